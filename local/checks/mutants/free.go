package main

// free lists constants for which any number is right, with the reason. Their uses have
// no mutants.
var free = map[string]string{}
