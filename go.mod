module agentsocial

go 1.26.0
