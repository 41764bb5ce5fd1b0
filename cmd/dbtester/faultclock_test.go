package main

import (
	"debug/elf"
	endian "encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A machine has one wall clock, and no namespace has another: setting it would
// set that of everything else that runs here. So the clock is stepped for one
// process after the other: every program asks the time from the function that
// the kernel maps into it (the vDSO), and that page can be written to without
// any other process seeing it. What is put there asks the kernel, and moves the
// answer of CLOCK_REALTIME, of no other clock: what the process sees is
// what a set clock looks like. Times of files stay those of the machine.

// errClockArchitecture says that the code below is for another processor.
var errClockArchitecture = errors.New("the clock can be stepped on x86-64 only")

// steppedClock is machine code of clock_gettime(clock, *timespec) that moves
// the wall clock by whole seconds.
func steppedClock(by time.Duration) []byte {
	code := []byte{
		0xb8, 0xe4, 0, 0, 0, // mov eax, SYS_clock_gettime
		0x0f, 0x05, // syscall
		0x85, 0xff, // test edi, edi: CLOCK_REALTIME is 0
		0x75, 0x07, // jnz over the next
		0x48, 0x81, 0x06, // add qword [rsi], the seconds
	}
	code = endian.LittleEndian.AppendUint32(code, uint32(int32(by/time.Second)))
	return append(code, 0xc3) // ret
}

// stepClock moves the wall clock that one running process sees.
func stepClock(pid int, by time.Duration) (err error) {
	memory, err := os.OpenFile(filepath.Join("/proc", strconv.Itoa(pid), "mem"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	begin, end, err := vdso(pid)
	if err != nil {
		return err
	}
	offset, err := clockOffset(io.NewSectionReader(memory, begin, end-begin))
	if err != nil {
		return err
	}
	// No thread may be inside of what is replaced: hold all of them, and look.
	handle, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	for range 100 {
		if err := handle.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		outside := within(time.Second, func() bool { return stopped(pid) }) && !insideAny(pid, begin, end)
		if outside {
			_, err = memory.WriteAt(steppedClock(by), begin+offset)
		}
		if again := handle.Signal(syscall.SIGCONT); outside || again != nil {
			return errors.Join(err, again)
		}
	}
	return fmt.Errorf("process %d reads its clock whenever it is held", pid)
}

// vdso returns where the kernel mapped its functions.
func vdso(pid int) (begin, end int64, err error) {
	maps, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "maps"))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "[vdso]") {
			_, err := fmt.Sscanf(line, "%x-%x", &begin, &end)
			return begin, end, err
		}
	}
	return 0, 0, fmt.Errorf("process %d has no vDSO", pid)
}

// clockOffset finds clock_gettime in the page.
func clockOffset(page io.ReaderAt) (int64, error) {
	file, err := elf.NewFile(page)
	if err != nil {
		return 0, err
	}
	if file.Machine != elf.EM_X86_64 {
		return 0, errClockArchitecture
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return 0, err
	}
	for _, s := range symbols {
		if s.Name == "__vdso_clock_gettime" {
			return int64(s.Value), nil
		}
	}
	return 0, errors.New("the vDSO has no clock_gettime")
}

// stopped tells whether all threads of a process are held.
func stopped(pid int) bool {
	return everyThread(pid, "stat", func(stat string) bool {
		_, rest, _ := strings.Cut(stat[strings.LastIndexByte(stat, ')'):], " ")
		return strings.HasPrefix(rest, "T")
	})
}

// insideAny tells whether a thread is held within a range of its code.
func insideAny(pid int, begin, end int64) bool {
	return !everyThread(pid, "syscall", func(text string) bool {
		fields := strings.Fields(text)
		if len(fields) == 0 {
			return true
		}
		at, err := strconv.ParseInt(fields[len(fields)-1], 0, 64) // the last is the instruction pointer
		return err != nil || at < begin || at >= end
	})
}

func everyThread(pid int, file string, is func(text string) bool) bool {
	threads, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", file))
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err == nil && !is(string(text)) {
			return false
		}
	}
	return len(threads) > 0
}
