import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends one request with each token, all by the same client, which waits for 100 (Continue) before it sends a body.
 * Prints the status of each reply. Arguments: the URL, how many seconds each request may take, and the tokens.
 */
public class ExpectContinue {
  public static void main(String[] arguments) throws InterruptedException {
    URI url = URI.create(arguments[0]);
    long seconds = Long.parseLong(arguments[1]);
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    for (String token : Arrays.asList(arguments).subList(2, arguments.length)) {
      HttpRequest request = HttpRequest.newBuilder(url)
          .expectContinue(true)
          .timeout(Duration.ofSeconds(seconds))
          .header("Authorization", "Bearer " + token)
          .header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString("{\"a\":1}"))
          .build();
      System.out.println(outcomeOf(client, request, seconds));
    }
    // A client that hangs has threads of its own.
    System.exit(0);
  }

  private static String outcomeOf(HttpClient client, HttpRequest request, long seconds) throws InterruptedException {
    try {
      HttpResponse<String> response =
          client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).get(seconds, TimeUnit.SECONDS);
      return String.valueOf(response.statusCode());
    } catch (TimeoutException timeout) {
      return "no answer";
    } catch (ExecutionException failure) {
      return String.valueOf(failure.getCause());
    }
  }
}
