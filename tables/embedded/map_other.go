//go:build !linux

package embedded

// mapPopulate is zero: outside Linux, pages are mapped when read.
const mapPopulate = 0
