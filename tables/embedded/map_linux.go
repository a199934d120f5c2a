package embedded

import "syscall"

// mapPopulate maps all pages of a file in one step.
const mapPopulate = syscall.MAP_POPULATE
