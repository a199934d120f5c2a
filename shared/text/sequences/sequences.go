// Package sequences holds the sequences of code points that Unicode lists:
// emoji recommended for general interchange, variation sequences, and the
// places where a joiner changes what is shown.
//
// Its data are text files, each written by the program beside it.
package sequences
