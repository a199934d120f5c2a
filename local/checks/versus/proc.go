package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc.
const tick = time.Second / 100

// stat returns the fields of /proc/PID/stat from the third on: proc_pid_stat(5).
func stat(pid int) ([]string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	_, fields, _ := strings.Cut(string(b), ") ")
	return strings.Fields(fields), nil
}

// family returns a process and its children.
func family(pid int) ([]int, error) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	pids := []int{pid}
	for _, p := range all {
		child, err := strconv.Atoi(filepath.Base(p))
		if err != nil {
			continue
		}
		if f, err := stat(child); err == nil && f[1] == strconv.Itoa(pid) {
			pids = append(pids, child)
		}
	}
	return pids, nil
}

// spent returns the processor time of programs and their children so far.
func spent(pids []int) (sum time.Duration, err error) {
	for _, pid := range pids {
		all, err := family(pid)
		if err != nil {
			return 0, err
		}
		for _, p := range all {
			f, err := stat(p)
			if err != nil {
				continue // an ended child; its parent has its time
			}
			for _, field := range f[11:15] { // utime, stime, and those of ended children
				n, err := strconv.Atoi(field)
				if err != nil {
					return 0, err
				}
				sum += time.Duration(n) * tick
			}
		}
	}
	return sum, nil
}

// resident returns the memory of programs and their children in MB. Memory that several
// processes share is divided among them (Pss).
func resident(pids []int) (mb float64, err error) {
	for _, pid := range pids {
		all, err := family(pid)
		if err != nil {
			return 0, err
		}
		for _, p := range all {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(b)) {
				if f := strings.Fields(line); f[0] == "Pss:" {
					kb, err := strconv.Atoi(f[1])
					if err != nil {
						return 0, err
					}
					mb += float64(kb) / 1024
				}
			}
		}
	}
	return mb, nil
}

// sizeOf returns the total size of the files in a folder, in bytes.
func sizeOf(folder string) (n int64, err error) {
	err = filepath.Walk(folder, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil // an error means that the file was removed meanwhile
	})
	return n, err
}
