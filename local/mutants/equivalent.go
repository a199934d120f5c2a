package main

// equivalent are mutants that no test can notice, by name, and why. They are not
// run, and do not count.
var equivalent = map[string]string{
	"tables/idea.go Set condition ItemExists()":     "no idea that there is not has its changes, to which it is held as well",
	"tables/idea.go Set condition ItemExists() #4":  "no original that there is not has its changes, to which it is held as well",
	"tables/promo.go Remove condition ItemExists()": "no promo that there is not has a state, to which it is held as well",
}
