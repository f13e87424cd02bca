package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

type problem struct {
	Title, Detail string
	Errors        []struct{ Pointer, Detail string }
}

var client = &http.Client{Timeout: 10 * time.Second}

func send(recipient string, payload any, key string) (string, error) {
	body, err := json.Marshal(map[string]any{"Recipient": recipient, "Payload": payload})
	if err != nil {
		return "", err
	}
	for attempt := 1; ; attempt++ {
		wait := time.Duration(attempt) * time.Second
		request, err := http.NewRequest("POST", os.Getenv("INGEST_URL")+"/api/notifications", bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("INGEST_API_KEY"))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", key)
		answer, err := client.Do(request)
		if err == nil {
			id, repeat, failure := read(answer)
			if !repeat || attempt == 5 {
				return id, failure
			}
			if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
				wait = time.Duration(seconds) * time.Second
			}
		} else if attempt == 5 {
			return "", err
		}
		time.Sleep(wait)
	}
}

func read(answer *http.Response) (id string, repeat bool, err error) {
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusCreated {
		var created struct{ Id string }
		err = json.NewDecoder(answer.Body).Decode(&created)
		return created.Id, false, err
	}
	var p problem
	_ = json.NewDecoder(answer.Body).Decode(&p)
	switch answer.StatusCode {
	case 409, 429, 502, 503, 504:
		repeat = true
	}
	return "", repeat, fmt.Errorf("%d %s: %s %v", answer.StatusCode, p.Title, p.Detail, p.Errors)
}

func main() {
	id, err := send("alice", map[string]any{"Order": 1093, "State": "shipped"}, "order-1093-go")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(id)
}
