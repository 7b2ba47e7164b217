table.insert(string,"leak")
