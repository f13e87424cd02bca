import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Set;

public class Send {
    static final Set<Integer> REPEAT = Set.of(409, 429, 502, 503, 504);

    public static void main(String[] arguments) throws Exception {
        // Make the text with your JSON library. Java has none of its own.
        String body = "{\"Recipient\": \"alice\", \"Payload\": {\"Order\": 1093, \"State\": \"shipped\"}}";
        System.out.println(send(body, "order-1093-java"));
    }

    /** The notification as JSON: `Id` is in it. */
    static String send(String body, String key) throws InterruptedException {
        var client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
        var request = HttpRequest.newBuilder(URI.create(System.getenv("INGEST_URL") + "/api/notifications"))
            .header("Authorization", "Bearer " + System.getenv("INGEST_API_KEY"))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", key)
            .timeout(Duration.ofSeconds(10))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        for (int attempt = 1; ; attempt++) {
            long seconds = attempt;
            try {
                var answer = client.send(request, BodyHandlers.ofString());
                if (answer.statusCode() == 201) return answer.body();
                if (!REPEAT.contains(answer.statusCode()) || attempt == 5) fail(answer.body());
                seconds = answer.headers().firstValueAsLong("Retry-After").orElse(attempt);
            } catch (IOException error) {
                if (attempt == 5) fail("ingest does not answer: " + error);
            }
            Thread.sleep(seconds * 1000);
        }
    }

    /** A problem document is JSON with `title`, `detail` and `errors`. */
    static void fail(String text) {
        System.err.println(text);
        System.exit(1);
    }
}
