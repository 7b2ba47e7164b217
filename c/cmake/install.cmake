# Installs the headers and libraries, and the files by which CMake and pkg-config find them.

# weir::NAME is the shared form of a library, weir::NAME_static the other.
function(weir_install library name description requires requires_private)
    set_target_properties(${library}_shared PROPERTIES EXPORT_NAME ${name})
    set_target_properties(${library}_static PROPERTIES EXPORT_NAME ${name}_static)
    add_library(weir::${name} ALIAS ${library}_shared)
    add_library(weir::${name}_static ALIAS ${library}_static)
    install(TARGETS ${library}_shared ${library}_static EXPORT weir-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    string(REPLACE "_" "-" PC_NAME ${library})
    set(PC_LIBRARY ${library})
    set(PC_DESCRIPTION "${description}")
    set(PC_REQUIRES "${requires}")
    set(PC_REQUIRES_PRIVATE "${requires_private}")
    configure_file(${PROJECT_SOURCE_DIR}/c/cmake/library.pc.in ${PROJECT_BINARY_DIR}/${PC_NAME}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

weir_install(weir weir "${PROJECT_DESCRIPTION}" "" "")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/c/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "policy.h" EXCLUDE PATTERN "redis.h" EXCLUDE)
if(WEIR_POLICY)
    weir_install(weir_policy policy "Policies of weir in Lua 5.4" "weir" "lua5.4")
    install(FILES ${PROJECT_SOURCE_DIR}/c/include/weir/policy.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weir)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/lua/policies DESTINATION ${CMAKE_INSTALL_DATADIR}/weir)
endif()
if(WEIR_REDIS)
    weir_install(weir_redis redis "Limits of weir in a Redis server" "weir" "hiredis")
    install(FILES ${PROJECT_SOURCE_DIR}/c/include/weir/redis.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weir)
    install(DIRECTORY ${WEIR_SCRIPTS}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weir/scripts)
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/weir)
install(EXPORT weir-targets NAMESPACE weir:: DESTINATION ${package})
configure_package_config_file(c/cmake/weir-config.cmake.in ${PROJECT_BINARY_DIR}/weir-config.cmake
    INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weir-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weir-config.cmake ${PROJECT_BINARY_DIR}/weir-config-version.cmake
    DESTINATION ${package})
