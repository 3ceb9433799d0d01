package mcpclient

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolflow-go/toolflow"
)

// A frameReader reads newline-delimited frames.
type frameReader struct {
	r   *bufio.Reader
	max int64
}

// A tooLargeError is a frame that passed the limit; its bytes are gone but for both ends of it, which
// may name the request that it answers.
type tooLargeError struct {
	head, tail []byte
}

func (e *tooLargeError) Error() string { return "frame too large" }

const (
	frameBuffer = 64 << 10
	frameTail   = 256
	endlessLine = 16 // times the limit: then the stream is given up
)

func newFrameReader(r io.Reader, max int64) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, frameBuffer), max: max}
}

// next gives the next line without its end. Unless owned is true, the bytes are valid until the next
// call only. The last line comes with io.ErrUnexpectedEOF when it has no end.
func (f *frameReader) next() (line []byte, owned bool, err error) {
	line, err = f.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		owned = true
		line, err = f.long(bytes.Clone(line))
	} else if int64(len(line)) > f.max+1 {
		return nil, false, &tooLargeError{head: bytes.Clone(line), tail: bytes.Clone(line[len(line)-min(len(line), frameTail):])}
	}
	if errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return bytes.TrimRight(line, "\r\n"), owned, err
}

func (f *frameReader) long(line []byte) ([]byte, error) {
	for {
		part, err := f.r.ReadSlice('\n')
		line = append(line, part...)
		if int64(len(line)) > f.max+1 {
			if err == nil {
				return nil, &tooLargeError{head: bytes.Clone(line[:frameBuffer]), tail: bytes.Clone(line[len(line)-frameTail:])}
			}
			return nil, f.skip(bytes.Clone(line[:min(len(line), frameBuffer)]), err)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// skip reads to the end of a line that is too large, keeping its last bytes.
func (f *frameReader) skip(head []byte, err error) error {
	var tail []byte
	for n := f.max; errors.Is(err, bufio.ErrBufferFull); {
		var part []byte
		part, err = f.r.ReadSlice('\n')
		tail = append(tail, part[max(0, len(part)-frameTail):]...)
		tail = bytes.Clone(tail[max(0, len(tail)-frameTail):])
		if n += int64(len(part)); n > endlessLine*f.max {
			return fmt.Errorf("the server wrote a line of more than %s to its stdout", size(n))
		}
	}
	if err != nil {
		return err
	}
	return &tooLargeError{head: head, tail: tail}
}

// idOfEnds looks for the id in what is left of a frame that was too large: some servers write it
// first, some last.
func idOfEnds(e *tooLargeError) (int64, bool) {
	m, _ := parseMessage(e.head)
	if id, ok := wholeNumber(m.id); ok {
		return id, true
	}
	tail := bytes.TrimRight(e.tail, " \r\n")
	tail, ok := bytes.CutSuffix(tail, []byte("}"))
	i := bytes.LastIndexByte(tail, ':')
	if !ok || i < 0 || !bytes.HasSuffix(bytes.TrimRight(tail[:i], " "), []byte(`"id"`)) {
		return 0, false
	}
	return wholeNumber(bytes.TrimSpace(tail[i+1:]))
}

var decoders = sync.Pool{New: func() any { return jsontext.NewDecoder(new(bytes.Buffer)) }}

var (
	errNoObject = errors.New("not a JSON object")
	errNoArray  = errors.New("not a JSON array")
)

// members calls f for each member of a JSON object, in order, with bytes of raw itself. The text must
// be exactly one object.
func members(raw []byte, f func(name string, value []byte) error) error {
	return walk(raw, '{', f)
}

// elements calls f for each element of a JSON array.
func elements(raw []byte, f func(value []byte) error) error {
	return walk(raw, '[', func(_ string, value []byte) error { return f(value) })
}

func walk(raw []byte, open jsontext.Kind, f func(name string, value []byte) error) error {
	d := decoders.Get().(*jsontext.Decoder)
	defer decoders.Put(d)
	// One bad string must not cost the whole message: who reads a part decides about what is in it.
	d.Reset(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if k := d.PeekKind(); k != open {
		if open == '{' {
			return errNoObject
		}
		return errNoArray
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != open+2 { // '{' and '}', '[' and ']' stand two apart in ASCII
		var name string
		if open == '{' {
			t, err := d.ReadToken()
			if err != nil {
				return err
			}
			name = t.String()
		}
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		end := d.InputOffset()
		if err := f(name, raw[end-int64(len(v)):end]); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if len(bytes.TrimLeft(raw[d.InputOffset():], " \t\r\n")) > 0 {
		return errors.New("text after the JSON value")
	}
	return nil
}

// str decodes a JSON string.
func str(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}

// kindOf names the JSON type of a raw value for messages.
func kindOf(raw []byte) string {
	v, err := toolflow.DecodeValue(raw)
	if err != nil {
		return "a broken value"
	}
	switch kind := toolflow.KindOf(v); kind {
	case "null":
		return kind
	case "array", "object":
		return "an " + kind
	default:
		return "a " + kind
	}
}

// size gives a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
