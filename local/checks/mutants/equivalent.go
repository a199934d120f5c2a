package main

// equivalent are mutants that no test can notice, by name, and why. They are not
// run, and do not count. What nobody can notice had better not be there.
var equivalent = map[string]string{}
