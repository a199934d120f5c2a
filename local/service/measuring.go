package service

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/pprof"
	"path/filepath"

	"agentsocial/local/service/self"
)

// Measures holds what the service's process uses, and the lag of its readers.
type Measures struct {
	CPUMicros   int64 `json:"cpu_us"`       // in user and system mode, since the process started
	MemoryBytes int64 `json:"memory_bytes"` // resident, without pages of mapped files
	DataBytes   int64 `json:"data_bytes"`   // of the files in the folder of the data; 0 if nothing is kept
	LagMillis   int64 `json:"lag_ms"`       // the age of the oldest change that a reader has not finished
}

func (s *Service) measures(*http.Request) (any, int) {
	m := Measures{CPUMicros: self.CPU().Microseconds(), MemoryBytes: self.Memory()}
	if s.pump != nil {
		m.LagMillis = s.pump.lagging().Milliseconds()
	}
	if s.folder != "" {
		var err error
		if m.DataBytes, err = bytesIn(s.folder); err != nil {
			return problem(err.Error()), http.StatusInternalServerError
		}
	}
	return m, http.StatusOK
}

// bytesIn returns the bytes of the files below a folder. Files may be removed during the walk.
func bytesIn(folder string) (n int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreMissing(err)
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return ignoreMissing(err)
	})
	return n, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

const profilesPrefix = localPrefix + "pprof/"

// profiles serves the profiles of this process as [pprof] does, but under profilesPrefix.
func profiles() http.Handler {
	const theirs = "/debug/pprof/"
	mux := http.NewServeMux()
	mux.HandleFunc(theirs, pprof.Index)
	mux.HandleFunc(theirs+"cmdline", pprof.Cmdline)
	mux.HandleFunc(theirs+"profile", pprof.Profile)
	mux.HandleFunc(theirs+"symbol", pprof.Symbol)
	mux.HandleFunc(theirs+"trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r) {
			http.Error(w, onlyPrograms, http.StatusForbidden)
			return
		}
		own := r.Clone(r.Context())
		own.URL.Path = theirs + r.URL.Path[len(profilesPrefix):]
		mux.ServeHTTP(w, own)
	})
}
