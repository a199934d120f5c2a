// Package sequences holds the sequences of code points that Unicode lists:
// emoji recommended for general interchange, variation sequences, and the
// places where a joiner changes what is shown.
//
// Its data are text files. Each names its source and date, and was made by the program
// beside it. The files are read when first needed.
package sequences
