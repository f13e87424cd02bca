package main

import (
	"context"
	"encoding/json"
	"log"
	"time"

	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
)

const schema = `
CREATE TABLE IF NOT EXISTS peer_devices (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, hub text NOT NULL, platform text NOT NULL, tag text NOT NULL,
	handle text NOT NULL, p256dh text NOT NULL DEFAULT '', auth text NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS peer_devices_tag ON peer_devices (tag, platform, hub);
CREATE TABLE IF NOT EXISTS peer_messages (
	id text PRIMARY KEY, hub text NOT NULL, tags text NOT NULL, body bytea NOT NULL, outcomes text NOT NULL,
	enqueued_at timestamptz NOT NULL, completed_at timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS peer_retries (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, due_at timestamptz NOT NULL, attempt int NOT NULL DEFAULT 0,
	device bigint NOT NULL, message text NOT NULL, hub text NOT NULL, platform text NOT NULL, headers jsonb NOT NULL,
	body bytea NOT NULL);
CREATE INDEX IF NOT EXISTS peer_retries_due ON peer_retries (due_at);`

type device struct {
	id                   int64
	handle, p256dh, auth string
}

type message struct {
	id, hub, tags, platform, outcomes string
	body                              []byte
	headers                           map[string]string
	enqueued, completed               time.Time
}

type store struct {
	pool     *pgxpool.Pool
	messages chan message
	done     chan struct{}
}

func openStore(ctx context.Context, address string) *store {
	pool, err := pgxpool.Connect(ctx, address)
	check(err)
	_, err = pool.Exec(ctx, schema)
	check(err)
	s := &store{pool: pool, messages: make(chan message, 10_000), done: make(chan struct{})}
	go s.write()
	return s
}

func (s *store) close() {
	close(s.messages)
	<-s.done
	s.pool.Close()
}

// devices are those with one of some tags, at most 500.
func (s *store) devices(ctx context.Context, hub, platform string, tags []string) ([]device, error) {
	const query = `SELECT DISTINCT ON (id) id, handle, p256dh, auth FROM peer_devices
		WHERE tag = ANY ($1) AND platform = $2 AND hub = $3 LIMIT 500`
	const ofOne = `SELECT id, handle, p256dh, auth FROM peer_devices
		WHERE tag = $1 AND platform = $2 AND hub = $3 LIMIT 500`
	var rows pgx.Rows
	var err error
	if len(tags) == 1 {
		rows, err = s.pool.Query(ctx, ofOne, tags[0], platform, hub)
	} else {
		rows, err = s.pool.Query(ctx, query, tags, platform, hub)
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var devices []device
	for rows.Next() {
		var d device
		if err := rows.Scan(&d.id, &d.handle, &d.p256dh, &d.auth); err != nil {
			return nil, err
		}
		devices = append(devices, d)
	}
	return devices, rows.Err()
}

func (s *store) remove(d device) {
	s.pool.Exec(context.Background(), "DELETE FROM peer_devices WHERE id = $1", d.id)
}

// note writes a message soon. What does not fit is lost, as hub does with it.
func (s *store) note(m message) {
	select {
	case s.messages <- m:
	default:
	}
}

// write copies the messages that have come in during the last copy.
func (s *store) write() {
	defer close(s.done)
	columns := []string{"id", "hub", "tags", "body", "outcomes", "enqueued_at", "completed_at"}
	for first := range s.messages {
		rows := [][]any{row(first)}
		for len(rows) < 500 && len(s.messages) > 0 {
			rows = append(rows, row(<-s.messages))
		}
		source := pgx.CopyFromRows(rows)
		if _, err := s.pool.CopyFrom(context.Background(), pgx.Identifier{"peer_messages"}, columns, source); err != nil {
			log.Print(err)
		}
	}
}

func row(m message) []any {
	return []any{m.id, m.hub, m.tags, m.body, m.outcomes, m.enqueued, m.completed}
}

// keep stores pushes that are to be tried again.
func (s *store) keep(ctx context.Context, m message, devices []device) error {
	headers, err := json.Marshal(m.headers)
	if err != nil {
		return err
	}
	ids := make([]int64, len(devices))
	for i, d := range devices {
		ids[i] = d.id
	}
	_, err = s.pool.Exec(ctx, `INSERT INTO peer_retries (due_at, device, message, hub, platform, headers, body)
		SELECT now() + interval '1 second', unnest($1::bigint[]), $2, $3, $4, $5, $6`,
		ids, m.id, m.hub, m.platform, headers, m.body)
	return err
}

// claim pushes what is due, at most 100 at a time, each by one process.
func (s *store) claim(ctx context.Context, push func(message, device) outcome) {
	rows, err := s.pool.Query(ctx, `UPDATE peer_retries r SET due_at = now() + interval '30 seconds', attempt = attempt + 1
		FROM peer_devices d WHERE d.id = r.device AND r.id IN (SELECT id FROM peer_retries WHERE due_at <= now()
		ORDER BY due_at LIMIT 100 FOR UPDATE SKIP LOCKED)
		RETURNING r.id, r.attempt, r.message, r.hub, r.platform, r.headers, r.body, d.id, d.handle, d.p256dh, d.auth`)
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var attempt int
		var headers []byte
		var m message
		var d device
		if rows.Scan(
			&id, &attempt, &m.id, &m.hub, &m.platform, &headers, &m.body, &d.id, &d.handle, &d.p256dh, &d.auth) != nil {
			continue
		}
		json.Unmarshal(headers, &m.headers)
		go func() {
			switch push(m, d) {
			case unknown:
				s.pool.Exec(context.Background(), "UPDATE peer_retries SET due_at = now() + $2 * interval '1 second' WHERE id = $1",
					id, min(300, 1<<attempt))
			case expiredChannel, badChannel:
				s.remove(d)
				fallthrough
			default:
				s.pool.Exec(context.Background(), "DELETE FROM peer_retries WHERE id = $1", id)
			}
		}()
	}
}
