package docs

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"strings"
	"sync"

	"agentsocial/shared/api"
)

// drawing is the icon: a face in a bubble. Each character is a pixel.
//
//go:embed icon.txt
var drawing string

// colours maps the drawing's characters to their blue, green, red and opacity.
var colours = map[rune][4]byte{'.': {}, '#': {0xa4, 0x57, 0x0b, 0xff}, '+': {0xff, 0xff, 0xff, 0xff}}

const (
	iconDrawn = 16 // pixels of a side of the drawing
	iconScale = 2
	iconSide  = iconDrawn * iconScale
)

// icon returns favicon.ico: one bitmap with 32 bits a pixel.
// https://learn.microsoft.com/en-us/windows/win32/api/wingdi/ns-wingdi-bitmapinfoheader
var icon = sync.OnceValue(func() []byte {
	const header, mask = 40, iconSide * iconSide / 8
	const size = header + 4*iconSide*iconSide + mask
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v) // a buffer takes everything
		}
	}
	put(uint16(0), uint16(1), uint16(1))                                                                              // an icon with one image
	put(uint8(iconSide), uint8(iconSide), uint8(0), uint8(0), uint16(1), uint16(32), uint32(size), uint32(6+16))      // where the image is
	put(uint32(header), int32(iconSide), int32(2*iconSide), uint16(1), uint16(32), uint32(0), uint32(0), [4]uint32{}) // the height includes the mask
	rows := strings.Fields(drawing)
	for y := iconSide - 1; y >= 0; y-- { // from the bottom
		row := rows[y/iconScale]
		for x := range iconSide {
			put(colours[rune(row[x/iconScale])])
		}
	}
	b.Write(make([]byte, mask)) // empty: the opacity decides
	return b.Bytes()
})

func (g docs) icon(context.Context, *nothing) (*api.Page, error) {
	return &api.Page{ContentType: "image/x-icon", Body: icon()}, nil
}
