package main

// equivalent lists mutants that no test can notice, by name, with the reason. They are
// not run and do not count. Prefer removing such code.
var equivalent = map[string]string{}
