package bench

import (
	"fmt"
	"io"
)

// What the setting copyTo makes. A test in infra checks these numbers on the page.
const (
	backupDays       = 2 // days that a backup stays beside the table
	copyDays         = 7
	copyAlarmMetrics = 2
	copySecrets      = 2 // replicas
)

// copied returns what a daily copy of the table in another region adds in a month. Every
// backup is full, without the indexes.
func (m month) copied() float64 {
	size := m.kept.table / gb
	return size*((backupDays+copyDays)*backupStoragePrice+daysAMonth*betweenRegionsPrice) + copyAlarmMetrics*alarmPrice + copySecrets*secretPrice
}

func (r *Report) copySection(out io.Writer, head, row func(...string), months []month) {
	fmt.Fprintf(out, `
## A copy elsewhere

The setting `+"`copyTo`"+` copies the table to another region or account once a day. Each backup is a full one, without the indexes. A GB
of a backup costs %s USD a month, and is kept for %d days beside the table and for %d days (`+"`copyDays`"+`) elsewhere. On its way to
another region a GB costs %s USD. Two secrets there and the alarm cost %s USD. A restore costs %s USD for a GB.

`, dollars(backupStoragePrice), backupDays, copyDays, dollars(betweenRegionsPrice), dollars(copyAlarmMetrics*alarmPrice+copySecrets*secretPrice), dollars(restorePrice))
	head(append([]string{"USD a month"}, each(months, func(m month) string { return thousands(m.agents) + " agents" })...)...)
	row(append([]string{"`copyTo` adds"}, each(months, func(m month) string { return dollars(m.copied()) })...)...)
}
