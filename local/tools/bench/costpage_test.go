package bench

import (
	"bytes"
	"maps"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

func TestGoldenCostPage(t *testing.T) {
	t.Parallel()
	r, err := counted(t)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r.page(&b)
	current(t, costPage, b.String())
}

func TestBill(t *testing.T) {
	post := Taken{
		Cost:    Cost{Trips: 2, ReadUnits: 7, WriteUnits: 13},
		After:   Cost{ReadUnits: 5, WriteUnits: 11},
		Changes: 2, CPU: 0.5, Bytes: 524, Plain: 524, Log: 600,
	}
	got := Bill{}.plus(post.bill(), million)
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"7 reads at 0.125 and 13 writes at 0.625", got.Table, 0.875 + 8.125},
		{"5 reads and 11 writes", got.After, 0.625 + 6.875},
		// Three invocations: half a GB for 1 + 2×5 + 0.5×1769/512 ms, and twice for 1 + 3×5
		// ms.
		{"Lambda", got.Lambda, 0.6 + 0.5*(11+1.727539+32)*1000*0.0000133334},
		{"a request", got.Gateway, 1},
		{"1024 bytes a call at 0.09 a GB", got.Transfer, 1e6 / 1048576 * 0.09},
		// 600 + 186 bytes, and two batches with a sixteenth of 346 bytes each.
		{"829.25 bytes a call at 0.50 a GB", got.Log, 1e6 * 829.25 / 1073741824 * 0.5},
		{"no mail", got.Mail, 0},
	} {
		if math.Abs(x.got-x.want) > 1e-4 {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
	// A whole processor compresses 130 000 bytes in a ms.
	packed := Taken{Bytes: 30_000, Plain: 130_000}
	if got, want := packed.bill().Lambda-(Taken{Bytes: 30_000}).bill().Lambda, 0.5*1769/512/1000*0.0000133334; math.Abs(got-want) > 1e-12 {
		t.Errorf("compressing: got %v USD, want %v", got, want)
	}
	if got, want := packed.unpacked().Transfer, 130_500.0/1073741824*0.09; math.Abs(got-want) > 1e-12 {
		t.Errorf("the transfer of the plain answer: got %v USD, want %v", got, want)
	}
	if mail := (Taken{Mails: 1}).bill().Mail; mail != 0.0001 {
		t.Errorf("a mail: got %v USD, want 0.0001", mail)
	}
}

func TestMonth(t *testing.T) {
	h := []habit{{"POST /x", "", 2}, {"GET /x", "", 3}}
	bill := func(route, _ string) Bill {
		if route == "POST /x" {
			return Bill{Table: 10e-6, Log: 1e-6, Units: Cost{WriteUnits: 16}, Keeps: space{table: 90_000, indexes: 10_000}}
		}
		return Bill{Gateway: 1e-6}
	}
	m := monthOf(1000, h, bill, standing{Secrets: 3, AlarmMetrics: 20, Dashboards: 1, Metrics: 100})
	// 60 000 calls of the first habit and 90 000 of the second. Each agent has 12 000 +
	// 2×90 000 bytes in the table, and 2×10 000 in indexes.
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"table", m.Table, 0.6}, {"log", m.Log, 0.06}, {"gateway", m.Gateway, 0.09},
		{"storage", m.storage, 212_000_000 / 1073741824.0 * 0.25},
		{"backups", m.backups, 192_000_000 / 1073741824.0 * 0.20},
		{"units", m.Units.WriteUnits, 960_000},
		{"logs kept", m.logs, 0.12 * 0.15 * 0.03},
		{"standing", m.standing, 1.2 + 2 + 3 + 30},
	} {
		if math.Abs(x.got-x.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
}

func TestProvisioned(t *testing.T) {
	const leastReads, leastWrites, alarms = 720 * 40 * 0.00013, 720 * 40 * 0.00065, 3.2
	for _, x := range []struct {
		what  string
		units Cost
		plan  plan
		want  float64
	}{
		// 2 592 000 000 units a month are 1000 a second. Half of the capacity is used, so
		// twice that is bought.
		{"writes", Cost{WriteUnits: 2_592_000_000}, hourly, 2000*720*0.00065 + leastReads + alarms},
		{"reads", Cost{ReadUnits: 2_592_000_000}, hourly, 2000*720*0.00013 + leastWrites + alarms},
		{"nothing", Cost{}, hourly, leastReads + leastWrites + alarms},
		// The quietest hour uses 500 a second. At a target of 0.6 this takes 833 units:
		// eight blocks.
		{"writes, reserved", Cost{WriteUnits: 2_592_000_000}, plan{target: 0.6, discount: 0.5}, (2000-400)*720*0.00065 + leastReads + alarms},
		{"a higher target", Cost{WriteUnits: 2_592_000_000}, plan{target: 0.75}, 1600*720*0.00065 + leastReads + alarms},
		{"Standard-IA", Cost{WriteUnits: 2_592_000_000}, rarely, 1.25*(2000*720*0.00065+leastReads) + alarms},
		{"too little to reserve", Cost{WriteUnits: 259_200_000}, plan{target: 0.6, discount: 0.5}, 200*720*0.00065 + leastReads + alarms},
	} {
		m := month{Bill: Bill{Units: x.units}}
		if got := m.provisioned(x.plan); math.Abs(got-x.want) > 1e-6 {
			t.Errorf("%s: got %v, want %v", x.what, got, x.want)
		}
	}
}

// Standard-IA costs three fifths less for storage.
func TestStandardIA(t *testing.T) {
	m := month{storage: 250, Bill: Bill{Units: Cost{WriteUnits: 2_592_000_000}}}
	if got, want := m.provisionedTotal(rarely), m.provisioned(rarely)+100; math.Abs(got-want) > 1e-6 {
		t.Errorf("month with Standard-IA: got %v USD, want %v", got, want)
	}
	if got := m.rarePays(300); math.Abs(got-2) > 1e-9 { // storage costs 150 less a month for each year of growth
		t.Errorf("Standard-IA pays after: got %v years, want 2", got)
	}
}

// Nine backups, thirty transfers, two secrets and an alarm of two metrics. Indexes are not
// copied.
func TestCopied(t *testing.T) {
	m := month{kept: space{10 * gb, 40 * gb}}
	if got, want := m.copied(), 10*9*0.10+10*30*0.02+2*0.40+2*0.10; math.Abs(got-want) > 1e-9 {
		t.Errorf("a copy in another region: got %v USD, want %v", got, want)
	}
}

func TestServers(t *testing.T) {
	m := month{kept: space{60 * gb, 40 * gb}, sent: 100, logs: 1, Bill: Bill{Transfer: 9, Log: 2}}
	s := machines{hours: 0.1, disk: 0.2, least: 20, balance: true, across: true}
	if got, want := s.usd(m), 72+0.2*150+0.095*150+9+2+1+0.008*100+0.02*50; math.Abs(got-want) > 1e-9 {
		t.Errorf("servers with data: got %v USD, want %v", got, want)
	}
	if got, want := s.usd(month{}), 72+0.2*20+0.095*20; math.Abs(got-want) > 1e-9 {
		t.Errorf("servers without data: got %v USD, want %v", got, want)
	}
	for _, n := range networks {
		if len(serversOf(n)) != 2 {
			t.Errorf("got %d setups of servers for %d agents, want 2", len(serversOf(n)), n)
		}
		serving, storing := cores(n)
		for _, s := range serversOf(n) {
			if s.servers < serving || s.database < storing {
				t.Errorf("%s for %d agents: got %g server and %g database cores, want at least %.2f and %.2f", s.what, n, s.servers, s.database, serving, storing)
			}
			if n == networks[2] && (s.servers > 2*serving || s.database > 2*storing) {
				t.Errorf("%s for %d agents: got %g server and %g database cores, want at most %.2f and %.2f, twice what is needed", s.what, n, s.servers, s.database, 2*serving, 2*storing)
			}
		}
	}
}

func TestTiers(t *testing.T) {
	for _, x := range []struct {
		amount, want float64
		of           []tier
	}{
		{0, 0, requestTiers}, {300, 300, requestTiers}, {400, 390, requestTiers},
		{10 * 1024, 921.6, egressTiers}, {60 * 1024, 921.6 + 40*1024*0.085 + 10*1024*0.07, egressTiers}, {200 * 1024, 921.6 + 40*1024*0.085 + 100*1024*0.07 + 50*1024*0.05, egressTiers},
	} {
		if got := usd(x.amount, x.of); math.Abs(got-x.want) > 1e-6 {
			t.Errorf("usd(%v): got %v, want %v", x.amount, got, x.want)
		}
	}
}

func TestKeptBytes(t *testing.T) {
	at := time.Unix(1_790_000_000, 0)
	item := func(key string, more tables.Item) tables.Item {
		i := tables.Item{tables.AttrPK: "P", tables.AttrSK: key, tables.AttrType: "x"} // 2+1 + 2+1 + 4+1 bytes
		maps.Copy(i, more)
		return i
	}
	insert := func(i tables.Item) tables.StreamRecord {
		return tables.StreamRecord{Event: "INSERT", Key: i.Key(), New: i, At: at}
	}
	modify := func(old, now tables.Item) tables.StreamRecord {
		return tables.StreamRecord{Event: "MODIFY", Key: now.Key(), Old: old, New: now, At: at}
	}
	remove := func(i tables.Item) tables.StreamRecord {
		return tables.StreamRecord{Event: "REMOVE", Key: i.Key(), Old: i, At: at}
	}
	a, longer, brief := item("a", nil), item("a", tables.Item{"t": "123456789"}), item("b", tables.Item{tables.AttrTTL: at.Unix() + 10*secondsDay})
	listed := item("c", tables.Item{"parent_pk": "Q", "parent_sk": "1"})
	for _, x := range []struct {
		what string
		of   []tables.StreamRecord
		want space
	}{
		{"an item", []tables.StreamRecord{insert(a)}, space{table: 365 * 111}},
		{"an item that grows at once", []tables.StreamRecord{insert(a), modify(a, longer)}, space{table: 365 * 121}},
		{"an older item", []tables.StreamRecord{modify(a, longer)}, space{}},
		{"an item that expires", []tables.StreamRecord{insert(brief)}, space{table: 10 * float64(brief.Size()+100)}},
		{"an older item that is removed before it expires", []tables.StreamRecord{remove(brief)}, space{table: -10 * float64(brief.Size()+100)}},
		{"an item that is removed at once", []tables.StreamRecord{insert(a), remove(a)}, space{}},
		{"an item of a type that each agent has once", []tables.StreamRecord{insert(item("d", tables.Item{tables.AttrType: tables.TypeLatest}))}, space{}},
		{"an item of an index", []tables.StreamRecord{insert(listed)}, space{table: 365 * float64(listed.Size()+100), indexes: 365 * (100 + 6 + 10 + 10)}},
	} {
		if got := kept(x.of); math.Abs(got.table-x.want.table) > 1e-6 || math.Abs(got.indexes-x.want.indexes) > 1e-6 {
			t.Errorf("%s: got %v, want %v", x.what, got, x.want)
		}
	}
}

func TestEdgePays(t *testing.T) {
	b := Bill{Gateway: 1e-6, Table: 2e-6, Transfer: 0.9e-6} // 10 KB, roughly: 0.00001 GB
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	near("a hit", hit(b), 1.1e-6+0.85e-6)
	near("a request passed on", passed(b), 3e-6+1.1e-6+0.85e-6)
	near("share", pays(b), (4.95-3.9)/3)
	rows := []Row{
		{&scenario{route: "GET /openapi.json"}, Taken{Bytes: 35_500, Plain: 540_000}}, // stored compressed only
		{&scenario{route: "GET /v1/channels"}, Taken{Bytes: 9000, Plain: 30_000}},
		{&scenario{route: "GET /v1/me/memory"}, Taken{Bytes: 260_000, Plain: 260_000}}, // not stored
	}
	near("the largest hit", dearestHit(rows), 1.1e-6+36_000.0/1073741824*0.085)
	near("the largest of the small", dearestHit(rows[1:]), 1.1e-6+30_500.0/1073741824*0.085)
	m := month{agents: 1_000_000, sent: 1024, Bill: Bill{Transfer: 1024 * 0.09}}
	near("a month", m.edged(), callsADay(habits)*30*1.1-1024*0.005+0.4+0.2)
}

// A partition that has split holds 5 GB, and a new table has four partitions.
func TestRunbookHasEnoughShards(t *testing.T) {
	t.Parallel()
	r, err := counted(t)
	if err != nil {
		t.Fatal(err)
	}
	book, err := os.ReadFile("../../../infra/RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(book), "\n| the stream: shards |")
	cells := strings.Split(line, "|")
	for i, n := range networks {
		said, err := strconv.Atoi(strings.NewReplacer(" ", "", "\u00a0", "").Replace(cells[1+i]))
		if err != nil {
			t.Fatal(err)
		}
		need := max(4, monthOf(n, habits, find(r.Rows), standingNow()).kept.table/gb/5)
		if got := float64(said); got < need || got > 1.3*need {
			t.Errorf("shards for %d agents in the runbook: got %v, want %.1f to %.1f", n, got, need, 1.3*need)
		}
	}
}

func TestSmallNetworksAreCheap(t *testing.T) {
	t.Parallel()
	idle := standingNow()
	idle.Metrics = 0
	if usd := idle.usd(); usd > 5 {
		t.Errorf("an idle network costs %.2f USD a month, want at most 5", usd)
	}
	r, err := counted(t)
	if err != nil {
		t.Fatal(err)
	}
	m := monthOf(1000, habits, find(r.Rows), standingNow())
	if m.total() > 15 {
		t.Errorf("a thousand agents cost %.2f USD a month, want at most 15", m.total())
	}
	t.Logf("%.2f USD idle, %.2f with a thousand agents", idle.usd(), m.total())
}

// The smallest of three rates counts: the throttle, the endpoint's own, and SES's quota of
// mails.
func TestAttacks(t *testing.T) {
	costly := Taken{Cost: Cost{WriteUnits: 520}}
	all := []Row{
		{&scenario{route: "GET /open"}, Taken{Bytes: 500_000}},
		{&scenario{route: "PUT /v1/me/memory"}, costly},
		{&scenario{route: "POST /slow"}, Taken{Mails: 1}},
	}
	s := app.DefaultSettings()
	list := attacks(all, func(route string) bool { return route == "PUT /v1/me/memory" }, map[string]int{"POST /slow": 5}, 200, s)
	first := list[0]
	if !strings.Contains(first.what, "PUT /v1/me/memory") || first.rate != 200 {
		t.Fatalf("the dearest is %+v, want the memory at 200 a second", first)
	}
	// 200 a second are 17 280 000 a day. An agent may write 50 000 KiB a day: 195.3 times
	// 256 KiB.
	if want := math.Ceil(17_280_000 / (50_000.0 / 256)); first.agents != want {
		t.Errorf("writing memories takes %v agents, want %v", first.agents, want)
	}
	if usd := first.day(); usd < 17.28*325 || usd > 17.28*328 {
		t.Errorf("writing memories costs %v USD a day, want 5616 to 5668", usd)
	}
	for _, a := range list {
		switch {
		case strings.Contains(a.what, "/slow") && (a.rate > 50_000/86_400.0+1e-9 || a.agents != 0):
			t.Errorf("attack that sends mails: got %+v, want it bounded by SES's quota, without agents", a)
		case strings.Contains(a.what, "/open") && a.bounded != "`throttleRate`":
			t.Errorf("attack on an open endpoint: got %+v, want it bounded by throttleRate", a)
		}
	}
}
