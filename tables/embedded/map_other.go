//go:build !linux

package embedded

// mapPopulate is empty: this system maps pages as they are read.
const mapPopulate = 0
