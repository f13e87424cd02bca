require 'json'
require 'net/http'

def send_notification(recipient, payload, key)
  url = URI("#{ENV.fetch('INGEST_URL')}/api/notifications")
  headers = {
    'Authorization' => "Bearer #{ENV.fetch('INGEST_API_KEY')}",
    'Content-Type' => 'application/json',
    'Idempotency-Key' => key
  }
  body = JSON.generate('Recipient' => recipient, 'Payload' => payload)
  1.upto(5) do |attempt|
    wait = attempt
    begin
      answer = Net::HTTP.start(url.host, url.port, use_ssl: url.scheme == 'https', open_timeout: 10, read_timeout: 10) do |http|
        http.post(url.path, body, headers)
      end
      return JSON.parse(answer.body)['Id'] if answer.code == '201'
      abort describe(answer) if !%w[409 429 502 503 504].include?(answer.code) || attempt == 5
      wait = (answer['Retry-After'] || attempt).to_i
    rescue SystemCallError, IOError, Net::OpenTimeout, Net::ReadTimeout => error
      abort "ingest does not answer: #{error.message}" if attempt == 5
    end
    sleep wait
  end
end

def describe(answer)
  problem = JSON.parse(answer.body)
  issues = problem.fetch('errors', []).map { |issue| "#{issue['pointer']}: #{issue['detail']}" }
  ["#{answer.code} #{problem['title']}: #{problem['detail']}", *issues].join("\n")
rescue JSON::ParserError
  "ingest answered #{answer.code}"
end

puts send_notification('alice', { Order: 1093, State: 'shipped' }, 'order-1093-ruby')
