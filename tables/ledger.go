package tables

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"agentsocial/tables/id"
)

// The ledger is double entry: every movement of money names the account it
// comes from and the account it goes to, so the sum over all accounts is zero.
// Amounts are micro-USD.

// Account is one side of a movement. Accounts of agents and promos have a running
// balance. Revenue and the processor have none, since the movements of all agents would
// write one item. The stream adds up their movements by day and shard.
type Account string

// The accounts without a running balance.
const (
	Revenue   Account = "revenue"   // what the service earned
	Processor Account = "processor" // source of money; its sum is minus what was taken in
)

// AgentAccount holds an agent's credits.
func AgentAccount(agent string) Account { return Account(agent) }

// EscrowAccount holds a promo's unspent budget.
func EscrowAccount(promo string) Account { return Account(promo) }

// Agent returns the agent of an account; "" if it is not an agent's.
func (a Account) Agent() string {
	if !id.Agent.Valid(string(a)) {
		return ""
	}
	return string(a)
}

// Runs reports whether the account has a running balance.
func (a Account) Runs() bool { return a != Revenue && a != Processor }

// Kinds of movements.
const (
	Bought      = "bought"     // processor → agent: a checkout was paid
	Refunded    = "refunded"   // agent → processor: a payment, or part of it, was returned
	Unrefunded  = "unrefunded" // processor → agent: a refund failed
	Disputed    = "disputed"   // agent → processor: the payer's bank took a payment back
	Reinstated  = "reinstated" // processor → agent: the dispute was won
	PaidMessage = "message"    // agent → revenue
	PaidPromo   = "promo"      // agent → escrow
	Earned      = "earned"     // escrow → revenue: impressions
	Returned    = "returned"   // escrow → agent: a promo's unspent budget
)

var sides = map[string]struct{ from, to func(Account) bool }{
	Bought:      {isProcessor, isAgent},
	Refunded:    {isAgent, isProcessor},
	Unrefunded:  {isProcessor, isAgent},
	Disputed:    {isAgent, isProcessor},
	Reinstated:  {isProcessor, isAgent},
	PaidMessage: {isAgent, isRevenue},
	PaidPromo:   {isAgent, isEscrow},
	Earned:      {isEscrow, isRevenue},
	Returned:    {isEscrow, isAgent},
}

func isAgent(a Account) bool     { return a.Agent() != "" }
func isEscrow(a Account) bool    { return id.Promo.Valid(string(a)) }
func isRevenue(a Account) bool   { return a == Revenue }
func isProcessor(a Account) bool { return a == Processor }

// Movement moves micro-USD from one account to another, once. At least one side has a
// running balance, and at most one is an agent's.
type Movement struct {
	ID       string  `db:"id"` // ev_…, of [MovementID]
	At       int64   `db:"at"` // unix ms
	Kind     string  `db:"kind"`
	From     Account `db:"from"`
	To       Account `db:"to"`
	MicroUSD int64   `db:"micro_usd"` // above 0
	Subject  Map     `db:"subject"`   // ids of what it was for
	Counted  bool    `db:"counted"`   // the stream has added it up
}

// MovementID derives a movement's id from its cause, so that a cause that is reported
// repeatedly makes one movement. at is the time that the cause's source states. kind
// separates the movements of one cause.
func MovementID(at time.Time, kind, cause string) string {
	return id.Event.Derive(at, kind+" "+cause)
}

// Item types of the ledger.
const (
	TypeBalance  = "balance"
	TypeMovement = "movement"
	TypeDaySum   = "day_sum"
)

// LedgerPK is the partition of an account.
func LedgerPK(a Account) string { return "L#" + string(a) }

// BalanceKey is the key of an account's running balance.
func BalanceKey(a Account) Key { return Key{LedgerPK(a), "BALANCE"} }

const movementPrefix = "E#"

// MovementKey is the key of a movement in its home account.
func MovementKey(home Account, movement string) Key {
	return Key{LedgerPK(home), movementPrefix + movement}
}

// Home returns the account whose partition holds the movement: the agent's if
// there is one, else the one with a running balance.
func (m *Movement) Home() Account {
	for _, a := range []Account{m.From, m.To} {
		if a.Agent() != "" {
			return a
		}
	}
	if m.From.Runs() {
		return m.From
	}
	return m.To
}

// Summed returns the account without a running balance and what the movement
// adds to it; "" if both accounts have a running balance.
func (m *Movement) Summed() (a Account, microUSD int64) {
	switch {
	case !m.From.Runs():
		return m.From, -m.MicroUSD
	case !m.To.Runs():
		return m.To, m.MicroUSD
	}
	return "", 0
}

// Item returns the item of the movement.
func (m *Movement) Item() Item {
	return keyed(MovementKey(m.Home(), m.ID), TypeMovement, Marshal(m))
}

// Fits reports whether the movement's accounts match its kind.
func (m *Movement) Fits() bool {
	s, known := sides[m.Kind]
	return known && s.from(m.From) && s.to(m.To)
}

// Signed returns what the movement adds to an account.
func (m *Movement) Signed(a Account) int64 {
	switch a {
	case m.From:
		return -m.MicroUSD
	case m.To:
		return m.MicroUSD
	}
	return 0
}

// takesBack reports whether the movement is made regardless of the balance,
// because the processor has already taken the money.
func (m *Movement) takesBack() bool { return m.To == Processor }

// Writes returns the writes that make the movement. They require that it was not made
// before, and that the paying account has enough. If the processor has taken the money, the
// balance may become negative. A failed condition gives a [NotMoved].
//
// Writes panics if the accounts do not match the kind, or the amount or the id is not
// valid.
func (m *Movement) Writes() []Write {
	if m.MicroUSD <= 0 || !m.Fits() || !id.Event.Valid(m.ID) {
		panic(fmt.Sprintf("tables: the amount, the id or the accounts of the movement are not valid: %+v", *m))
	}
	writes := []Write{Put(m.Item(), NoItem()).Else(Means(&NotMoved{Why: AlreadyMade}))}
	if m.From.Runs() {
		w := addToBalance(m.From, -m.MicroUSD)
		if !m.takesBack() {
			w = w.When(AtLeast("micro_usd", m.MicroUSD)).Else(tooLow)
		}
		writes = append(writes, w)
	}
	if m.To.Runs() {
		writes = append(writes, addToBalance(m.To, m.MicroUSD))
	}
	return writes
}

// addToBalance adds to a balance and lists it in by_parent. The index has only keys,
// so its entry is written only the first time.
func addToBalance(a Account, microUSD int64) Write {
	w := ListBalance(a)
	w.Updates = append(w.Updates, SetAttr(AttrType, TypeBalance), Add("micro_usd", microUSD))
	return w
}

// balanceShards is the number of partitions of by_parent that list the
// balances, so that they can be read concurrently.
const balanceShards = 16

func balancesPK(shard byte) string { return fmt.Sprintf("BALANCES#%d", shard) }

func listedIn(a Account) string {
	sum := sha256.Sum256([]byte(a))
	return balancesPK(sum[0] % balanceShards)
}

// ListBalance lists an account's balance.
func ListBalance(a Account) Write {
	return Change(BalanceKey(a), SetAttr("parent_pk", listedIn(a)), SetAttr("parent_sk", string(a)))
}

// Listed reports whether a balance is listed. A balance of an early version is not, until
// it changes or `make list-balances` lists it. Until then the function audit reports wrong
// books.
func Listed(balance Item) bool {
	return balance.Str("parent_pk") == listedIn(BalanceOwner(balance))
}

// Balances returns the queries, one per shard, for the keys of all balances.
func Balances(most int) []Query {
	queries := make([]Query, balanceShards)
	for shard := range queries {
		queries[shard] = Query{Index: ByParent, PK: balancesPK(byte(shard)), Limit: most}
	}
	return queries
}

// NotMoved is the error of a movement that was not made. It is an
// [ErrOvertaken].
type NotMoved struct {
	Why     Obstacle
	Balance int64 // the current balance, unless the movement was made before
}

// Obstacle says why a movement was not made.
type Obstacle int

const (
	AlreadyMade  Obstacle = iota + 1 // the same movement was made before
	Insufficient                     // the balance is less than the amount
	Frozen                           // the balance is negative: the processor took back spent money
)

func (n *NotMoved) Error() string {
	return [...]string{
		AlreadyMade: "tables: the movement was made before", Insufficient: "tables: the balance is too low", Frozen: "tables: the balance is below zero",
	}[n.Why]
}

// Is reports whether target is ErrOvertaken.
func (n *NotMoved) Is(target error) bool { return target == ErrOvertaken }

func tooLow(old Item) error {
	n := &NotMoved{Insufficient, MicroUSD(old)}
	if n.Balance < 0 {
		n.Why = Frozen
	}
	return n
}

// MicroUSD returns the amount of a balance's item; 0 if there is none.
func MicroUSD(balance Item) int64 { return balance.Int("micro_usd") }

// Movements queries the movements in a home account, newest first, before a
// movement's id ("" begins with the newest).
func Movements(home Account, before string, limit int) Query {
	q := Query{PK: LedgerPK(home), From: movementPrefix, To: movementPrefix + "~", Desc: true, Limit: limit, Consistency: Strong}
	if before != "" {
		q.After = &Position{SK: movementPrefix + before}
	}
	return q
}

const sumShards = 4

// DaySum is the sum of an account without a running balance on a UTC day, in one shard.
type DaySum struct {
	Account  Account `db:"account"`
	Day      string  `db:"day"` // 20261121
	MicroUSD int64   `db:"micro_usd,keep"`
	N        int64   `db:"n"` // movements
}

// DaySumKey is the key of the sum that counts a movement; the zero Key if none.
// The movements of one home account share a shard.
func (m *Movement) DaySumKey() Key {
	a, _ := m.Summed()
	if a == "" {
		return Key{}
	}
	sum := sha256.Sum256([]byte(m.Home()))
	return Key{sumPK(a, sum[0]%sumShards), "DAY#" + m.day()}
}

func (m *Movement) day() string { return dayOf(time.UnixMilli(m.At)) }

// DaySums returns the queries, one per shard, for the daily sums of an account
// without a running balance.
func DaySums(a Account) []Query {
	queries := make([]Query, sumShards)
	for shard := range queries {
		queries[shard] = Query{PK: sumPK(a, byte(shard)), Consistency: Strong}
	}
	return queries
}

func sumPK(a Account, shard byte) string { return fmt.Sprintf("%s#%d", LedgerPK(a), shard) }

// CountMovements adds movements with the same [Movement.DaySumKey] to their
// sum, each once: a movement is its own marker.
func CountMovements(movements []Movement) []Write {
	var writes []Write
	var micro int64
	for _, m := range movements {
		_, n := m.Summed()
		micro += n
		writes = append(writes, Change(MovementKey(m.Home(), m.ID), SetAttr("counted", true)).When(ItemExists(), Absent("counted")))
	}
	first := movements[0]
	account, _ := first.Summed()
	return append(writes, Change(first.DaySumKey(),
		SetAttr(AttrType, TypeDaySum), SetAttr("account", string(account)), SetAttr("day", first.day()),
		Add("micro_usd", micro), Add("n", int64(len(movements)))))
}

// BalanceOwner returns the account of a balance's item.
func BalanceOwner(item Item) Account {
	return Account(strings.TrimPrefix(item.Key().PK, LedgerPK("")))
}
