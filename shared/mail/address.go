package mail

// Address is a mail address in its normalised form.
type Address struct{ s string }
