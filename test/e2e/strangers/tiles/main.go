// Reads a Spanseal log as any client of C2SP tlog-tiles would, with the transparency-log libraries of others: none of this knows
// Spanseal. It checks the checkpoint's signature, that every entry and tile hashes to its root, that older checkpoints are of the
// same history, and proofs of single records.
//
//	tiles FOLDER VERIFIER_KEY [--older CHECKPOINT]... [--proof TLOG_PROOF RECORD]...
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	formats "github.com/transparency-dev/formats/log"
	tlogproof "github.com/transparency-dev/formats/proof"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const tileHeight = 8

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: tiles FOLDER VERIFIER_KEY [--older CHECKPOINT]... [--proof TLOG_PROOF RECORD]...")
	}
	folder := args[0]
	verifier, err := note.NewVerifier(args[1])
	if err != nil {
		return fmt.Errorf("verifier key: %w", err)
	}
	newest, err := readCheckpoint(filepath.Join(folder, "checkpoint"), verifier)
	if err != nil {
		return err
	}
	if err := checkEntries(folder, newest); err != nil {
		return err
	}
	older, proofs := 0, 0
	for rest := args[2:]; len(rest) > 0; {
		switch {
		case rest[0] == "--older" && len(rest) > 1:
			err = checkOlder(folder, rest[1], newest, verifier)
			older++
			rest = rest[2:]
		case rest[0] == "--proof" && len(rest) > 2:
			err = checkProof(rest[1], rest[2], verifier)
			proofs++
			rest = rest[3:]
		default:
			return fmt.Errorf("what is %s?", rest[0])
		}
		if err != nil {
			return err
		}
	}
	fmt.Printf("%s: %d entries, %d older checkpoints, %d proofs\n", newest.Origin, newest.Size, older, proofs)
	return nil
}

func readCheckpoint(path string, verifier note.Verifier) (*formats.Checkpoint, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	checkpoint, rest, _, err := formats.ParseCheckpoint(text, verifier.Name(), verifier)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%s has extension lines", path)
	}
	return checkpoint, nil
}

// checkEntries reads all entry bundles of the tree and computes its root from them, in a compact range. Each leaf is looked up in the
// tiles too; the reader of golang.org/x/mod authenticates what it gets from there against the root.
func checkEntries(folder string, checkpoint *formats.Checkpoint) error {
	size := int64(checkpoint.Size)
	root := tlog.Hash(checkpoint.Hash)
	hashes := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, tileFiles(folder))
	factory := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	tree := factory.NewEmptyRange(0)
	for first := int64(0); first < size; first += 1 << tileHeight {
		width := min(size-first, 1<<tileHeight)
		entries, err := readEntries(folder, first>>tileHeight, width)
		if err != nil {
			return err
		}
		var indexes []int64
		for i := range entries {
			indexes = append(indexes, tlog.StoredHashIndex(0, first+int64(i)))
		}
		leaves, err := hashes.ReadHashes(indexes)
		if err != nil {
			return fmt.Errorf("tiles of entries from %d on: %w", first, err)
		}
		for i, entry := range entries {
			leaf := rfc6962.DefaultHasher.HashLeaf(entry)
			if !bytes.Equal(leaf, leaves[i][:]) {
				return fmt.Errorf("entry %d is not the leaf in the tile", first+int64(i))
			}
			if err := tree.Append(leaf, nil); err != nil {
				return err
			}
		}
	}
	computed, err := tree.GetRootHash(nil)
	if err != nil {
		return err
	}
	if size > 0 && !bytes.Equal(computed, checkpoint.Hash) {
		return fmt.Errorf("the entries have the root %x, the checkpoint says %x", computed, checkpoint.Hash)
	}
	return nil
}

func checkOlder(folder, path string, newest *formats.Checkpoint, verifier note.Verifier) error {
	older, err := readCheckpoint(path, verifier)
	if err != nil {
		return err
	}
	if older.Size == 0 || older.Size == newest.Size {
		return nil
	}
	reader := tlog.TileHashReader(tlog.Tree{N: int64(newest.Size), Hash: tlog.Hash(newest.Hash)}, tileFiles(folder))
	treeProof, err := tlog.ProveTree(int64(newest.Size), int64(older.Size), reader)
	if err != nil {
		return err
	}
	var hashes [][]byte
	for _, hash := range treeProof {
		hashes = append(hashes, hash[:])
	}
	err = proof.VerifyConsistency(rfc6962.DefaultHasher, older.Size, newest.Size, hashes, older.Hash, newest.Hash)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func checkProof(path, recordPath string, verifier note.Verifier) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	record, err := os.ReadFile(recordPath)
	if err != nil {
		return err
	}
	var parsed tlogproof.TLogProof
	if err := parsed.Unmarshal(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	checkpoint, _, _, err := formats.ParseCheckpoint(parsed.Checkpoint, verifier.Name(), verifier)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var hashes [][]byte
	for _, hash := range parsed.Hashes {
		hashes = append(hashes, hash[:])
	}
	leaf := rfc6962.DefaultHasher.HashLeaf(record)
	err = proof.VerifyInclusion(rfc6962.DefaultHasher, parsed.Index, checkpoint.Size, leaf, hashes, checkpoint.Hash)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// tileFiles gives the Go checksum database's client our files: its tiles are named by their height too.
type tileFiles string

func (tileFiles) Height() int { return tileHeight }

func (folder tileFiles) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		data, err := readTile(string(folder), strings.TrimPrefix(tile.Path(), "tile/8/"), tile.W, 32)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func (tileFiles) SaveTiles([]tlog.Tile, [][]byte) {}

// readTile falls back to the full tile, as clients do: the partial one may be gone by now.
func readTile(folder, name string, width, bytesEach int) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(folder, "tile", name))
	if full, _, partial := strings.Cut(name, ".p/"); os.IsNotExist(err) && partial {
		data, err = os.ReadFile(filepath.Join(folder, "tile", full))
		if err == nil && bytesEach > 0 && len(data) >= width*bytesEach {
			data = data[:width*bytesEach]
		}
	}
	return data, err
}

func readEntries(folder string, n, width int64) ([][]byte, error) {
	path := tlog.Tile{H: tileHeight, L: 0, N: n, W: int(width)}.Path()
	name := "entries/" + strings.TrimPrefix(path, "tile/8/0/")
	data, err := readTile(folder, name, int(width), 0)
	if err != nil {
		return nil, err
	}
	var entries [][]byte
	for len(data) > 0 && int64(len(entries)) < width {
		if len(data) < 2 || len(data) < 2+int(binary.BigEndian.Uint16(data)) {
			return nil, fmt.Errorf("%s ends inside an entry", name)
		}
		end := 2 + int(binary.BigEndian.Uint16(data))
		entries = append(entries, data[2:end])
		data = data[end:]
	}
	if int64(len(entries)) != width {
		return nil, fmt.Errorf("%s has %d entries of %d", name, len(entries), width)
	}
	return entries, nil
}
