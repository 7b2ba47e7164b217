error(0/0)
