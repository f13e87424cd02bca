<?php
function send(string $recipient, mixed $payload, string $key): string
{
    $options = ['http' => [
        'method' => 'POST',
        'header' => [
            'Authorization: Bearer ' . getenv('INGEST_API_KEY'),
            'Content-Type: application/json',
            'Idempotency-Key: ' . $key,
        ],
        'content' => json_encode(['Recipient' => $recipient, 'Payload' => $payload], JSON_THROW_ON_ERROR),
        'timeout' => 10,
        'ignore_errors' => true, // so that the text of an error can be read
    ]];
    for ($attempt = 1; ; $attempt++) {
        $wait = $attempt;
        $http_response_header = [];
        $text = @file_get_contents(getenv('INGEST_URL') . '/api/notifications', false, stream_context_create($options));
        $status = preg_match('#^HTTP/\S+ (\d+)#', $http_response_header[0] ?? '', $match) ? (int) $match[1] : 0;
        $answer = json_decode((string) $text, true) ?? [];
        if ($status === 201) {
            return $answer['Id'];
        }
        if (!in_array($status, [0, 409, 429, 502, 503, 504], true) || $attempt === 5) {
            throw new RuntimeException(describe($status, $answer));
        }
        foreach ($http_response_header as $line) {
            if (preg_match('/^Retry-After: *(\d+)/i', $line, $match)) {
                $wait = (int) $match[1];
            }
        }
        sleep($wait);
    }
}

function describe(int $status, array $problem): string
{
    $lines = [$status . ' ' . ($problem['title'] ?? 'ingest does not answer') . ': ' . ($problem['detail'] ?? '')];
    foreach ($problem['errors'] ?? [] as $issue) {
        $lines[] = $issue['pointer'] . ': ' . $issue['detail'];
    }
    return implode("\n", $lines);
}

try {
    echo send('alice', ['Order' => 1093, 'State' => 'shipped'], 'order-1093-php'), "\n";
} catch (RuntimeException $error) {
    fwrite(STDERR, $error->getMessage() . "\n");
    exit(1);
}
