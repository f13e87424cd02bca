using System;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text.Json;
using System.Threading.Tasks;

var client = new HttpClient { Timeout = TimeSpan.FromSeconds(10) };
var url = Environment.GetEnvironmentVariable("INGEST_URL") + "/api/notifications";
var apiKey = Environment.GetEnvironmentVariable("INGEST_API_KEY");
try
{
    Console.WriteLine(await Send("alice", new { Order = 1093, State = "shipped" }, "order-1093-csharp"));
    return 0;
}
catch (Exception error)
{
    Console.Error.WriteLine(error.Message);
    return 1;
}

async Task<string?> Send(string recipient, object payload, string key)
{
    for (var attempt = 1; ; attempt++)
    {
        var wait = TimeSpan.FromSeconds(attempt);
        // A request can be sent once, so each attempt makes a new one. The names keep their capital letters.
        var request = new HttpRequestMessage(HttpMethod.Post, url)
        {
            Content = JsonContent.Create(new { Recipient = recipient, Payload = payload }, null, new JsonSerializerOptions()),
        };
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", apiKey);
        request.Headers.Add("Idempotency-Key", key);
        try
        {
            using var answer = await client.SendAsync(request);
            var text = await answer.Content.ReadAsStringAsync();
            var status = (int)answer.StatusCode;
            if (status == 201) return JsonDocument.Parse(text).RootElement.GetProperty("Id").GetString();
            // A problem document: JSON with title, detail and errors.
            if (!new[] { 409, 429, 502, 503, 504 }.Contains(status) || attempt == 5) throw new InvalidOperationException(text);
            wait = answer.Headers.RetryAfter?.Delta ?? wait;
        }
        catch (Exception error) when (error is HttpRequestException or TaskCanceledException && attempt < 5)
        {
        }
        await Task.Delay(wait);
    }
}
