package pushgateway;

import java.io.*;
import java.lang.annotation.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.regex.Pattern;
import java.util.stream.*;
import org.junit.jupiter.api.extension.*;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Asserts the pushes of an unmodified sender with a test gateway ({@code pushcli serve --test}): one file without dependencies
 * but JUnit 5, for Java 17 or later. docs/send/testing.md describes the fields, states and options.
 *
 * <p>With {@code @ExtendWith(PushGatewayExtension.class)} a test can have parameters of the types {@link PushDevice}, a device
 * of this test, and {@link PushGateway}. One gateway serves all tests of the JVM, and ends with them.
 */
public final class PushGatewayExtension implements ParameterResolver {
  private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(PushGatewayExtension.class);
  /** The longest value in a table. */
  private static final int LONGEST = 60;

  /** The topic of an injected device, at the parameter, the method or the class. The default is com.example.app. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.PARAMETER, ElementType.METHOD, ElementType.TYPE})
  public @interface Topic {
    String value();
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == PushDevice.class || type == PushGateway.class;
  }

  /** Returns the gateway, or the device of the test: the first parameter of a test and of its setup is the same device. */
  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    PushGateway gateway = context.getRoot().getStore(NAMESPACE)
        .getOrComputeIfAbsent(PushGateway.class, key -> PushGateway.start(), PushGateway.class);
    if (parameter.getParameter().getType() == PushGateway.class) return gateway;
    long ordinal = Arrays.stream(parameter.getDeclaringExecutable().getParameterTypes()).limit(parameter.getIndex())
        .filter(type -> type == PushDevice.class).count();
    Optional<Topic> topic = parameter.findAnnotation(Topic.class)
        .or(() -> AnnotationSupport.findAnnotation(context.getTestMethod(), Topic.class))
        .or(() -> AnnotationSupport.findAnnotation(context.getTestClass(), Topic.class));
    return context.getStore(NAMESPACE).getOrComputeIfAbsent(context.getUniqueId() + ordinal,
        key -> gateway.device(topic.map(each -> Map.of("topic", each.value())).orElse(Map.of())), PushDevice.class);
  }

  /** A test gateway. */
  public static final class PushGateway implements ExtensionContext.Store.CloseableResource, AutoCloseable {
    /** The URL of the provider API, for the sender. */
    public final URI apns;
    /** The file with the certificate that the sender has to trust. */
    public final Path ca;
    private final String http;
    private final Server server;

    private PushGateway(String apns, String ca, String http, Server server) {
      this.apns = URI.create(apns);
      this.ca = Path.of(ca);
      this.http = http;
      this.server = server;
    }

    /**
     * Starts a test gateway, by $PUSHCLI or {@code pushcli} on the PATH. Under {@code pushcli test-run} its gateway is used,
     * unless there are options of {@code pushcli serve --test}.
     */
    public static PushGateway start(String... options) {
      Map<String, String> environment = System.getenv();
      String http = environment.get("PUSHGATEWAY_TEST_URL");
      if (http == null || options.length > 0) {
        Server server = new Server(environment.getOrDefault("PUSHCLI", "pushcli"), options);
        Json ready = server.ready();
        return new PushGateway(ready.text("/apns"), ready.text("/ca"), ready.text("/http"), server);
      }
      String apns = environment.get("APNS_URL"), ca = environment.get("APNS_CA");
      if (apns != null && ca != null) return new PushGateway(apns, ca, http, null);
      throw new IllegalStateException("PUSHGATEWAY_TEST_URL is set without APNS_URL and APNS_CA: set all three, or none");
    }

    /** Adds a device with a token, for one test. */
    public PushDevice device(String topic) { return device(Map.of("topic", topic)); }

    /** Adds a device with {@code topic}, {@code token}, {@code name}, {@code channels}, or {@code preferences} as nested maps. */
    public PushDevice device(Map<String, ?> members) { return new PushDevice(this, call("POST", "/devices", members)); }

    /** Returns the clock that all tests of the gateway share. */
    public Json clock() { return call("GET", "/clock", null); }

    /** Advances the clock. */
    public Json clock(Duration advance) { return call("POST", "/clock", Map.of("advance", advance.toMillis() + "ms")); }

    /** Sets the clock to the time of this machine. */
    public Json resetClock() { return call("POST", "/clock", Map.of("reset", true)); }

    /** Sets the certificate of the next connections: valid, unknown-ca, expired or wrong-name. */
    public void tls(String certificate) { call("PUT", "/tls", Map.of("certificate", certificate)); }

    /** Returns each refusal with the reaction of the sender, and the mistakes in accepted pushes, in {@code /lines}. */
    public Json report() { return call("GET", "/report", null); }

    /** Ends the gateway, if it was started here. */
    @Override
    public void close() throws IOException {
      if (server != null) server.stop();
    }

    /** Sends a request to the test API; the answer to an expectation that failed has {@code status} 417. */
    Json call(String method, String path, Object body) {
      try {
        var connection = (HttpURLConnection) URI.create(http + "/test/v1" + path).toURL().openConnection(Proxy.NO_PROXY);
        connection.setRequestMethod(method);
        connection.setRequestProperty("connection", "close");
        if (body != null) {
          byte[] bytes = Json.write(body).getBytes(StandardCharsets.UTF_8);
          connection.setDoOutput(true);
          connection.setRequestProperty("content-type", "application/json");
          connection.setFixedLengthStreamingMode(bytes.length); // Without it, a request can be sent twice.
          connection.getOutputStream().write(bytes);
        }
        int status = connection.getResponseCode();
        InputStream stream = status < 400 ? connection.getInputStream() : connection.getErrorStream();
        String text = stream == null ? "" : new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        Json answer = text.isEmpty() ? new Json(null) : Json.read(text);
        if (status < 300 || status == 417) return answer;
        throw new IllegalArgumentException("%s /test/v1%s: %d %s".formatted(method, path, status, answer.at("/detail")));
      } catch (IOException error) {
        throw new UncheckedIOException("no answer from the test gateway at %s: %s".formatted(http, error.getMessage()), error);
      }
    }
  }

  /** A process of {@code pushcli serve --test}, which ends with its standard input. */
  private static final class Server {
    private final Process process;
    private final Deque<String> log = new ConcurrentLinkedDeque<>();
    private final Thread reader = new Thread(this::readLog, "pushgateway-log");

    Server(String command, String... options) {
      List<String> words = new ArrayList<>(List.of(command, "serve", "--test", "--json"));
      words.addAll(List.of(options));
      try {
        process = new ProcessBuilder(words).start();
      } catch (IOException error) {
        throw new UncheckedIOException(command + " can't be started: install pushcli, or set PUSHCLI to its path", error);
      }
      reader.setDaemon(true);
      reader.start();
    }

    private void readLog() {
      process.errorReader(StandardCharsets.UTF_8).lines().forEach(line -> {
        if (log.size() >= 100) log.removeFirst();
        log.add(line);
      });
    }

    /** Returns the line that the gateway prints when it is ready. */
    Json ready() {
      return process.inputReader(StandardCharsets.UTF_8).lines().findFirst().map(Json::read)
          .orElseThrow(() -> new IllegalStateException(end()));
    }

    void stop() throws IOException {
      if (process.isAlive()) process.getOutputStream().close();
      String end = end();
      if (process.exitValue() != 0) throw new IllegalStateException(end);
    }

    private String end() {
      try {
        int status = process.waitFor();
        reader.join();
        return "the test gateway ended with %d: %s".formatted(status, String.join("\n", log));
      } catch (InterruptedException error) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted before the end of the test gateway", error);
      }
    }
  }

  /** A device of a test gateway. Its token is the namespace of one test. */
  public static final class PushDevice {
    /** The device token, for the sender. */
    public final String token;
    public final String topic;
    /** The name of the device and of its user. */
    public final String name;
    private final PushGateway gateway;

    private PushDevice(PushGateway gateway, Json device) {
      this.gateway = gateway;
      token = device.text("/token");
      topic = device.text("/topic");
      name = device.text("/device");
    }

    /**
     * Returns the expected pushes as soon as they are there: {@code expect(push().title("Train").presented())}.
     *
     * @throws AssertionError with the nearest pushes
     */
    public List<Json> expect(Expectation expectation) { return expect(expectation.members()); }

    /** Returns when no push has come for a time. A refused push is a failure, too. */
    public void expectNone(Duration within) { expectNone(push().within(within)); }

    /** Returns when no such push has come for 500 ms. Without a state, a refused push is a failure, too. */
    public void expectNone(Expectation expectation) {
      Map<String, Object> members = new HashMap<>(Map.of("state", "any", "within", "500ms"));
      members.putAll(expectation.members());
      members.put("count", 0);
      expect(members);
    }

    private List<Json> expect(Map<String, Object> members) {
      members.put("token", token);
      Json answer = gateway.call("POST", "/expect", members);
      if (!Long.valueOf(417).equals(answer.at("/status"))) return answer.list("/pushes");
      throw failure(answer, (long) gateway.call("GET", "", null).at("/recorded"));
    }

    /** Lists the recorded pushes to the device, the oldest first. */
    public List<Json> pushes() { return gateway.call("GET", "/pushes?token=%s".formatted(token), null).list("/pushes"); }

    /** Answers the last delivered push as its user, as with "approve". Returns the answer that counts. */
    public String answer(String action) { return answer(Map.of("action", action)); }

    /** Answers the push with an {@code apns-id} as its user. Returns the answer that counts. */
    public String answer(String action, String id) { return answer(Map.of("action", action, "id", id)); }

    private String answer(Map<String, String> members) {
      return gateway.call("POST", "/devices/%s/answer".formatted(token), members).text("/action");
    }

    /**
     * Sets the state of the token, from which the answers to its next pushes follow: registered, unregistered,
     * other-environment, throttled, unavailable or accepted-and-dropped.
     */
    public void state(String state) { state(Map.of("state", state)); }

    /** Sets the state of the token for a number of pushes. */
    public void state(String state, int count) { state(Map.of("state", state, "count", count)); }

    /** Sets the state of the token for a time. */
    public void state(String state, Duration time) { state(Map.of("state", state, "for", time.toMillis() + "ms")); }

    private void state(Map<String, Object> members) { gateway.call("PUT", "/tokens/%s".formatted(token), members); }

    /**
     * Sets the faults of the requests to the token, in place of its earlier faults and its state; without arguments they end.
     * A fault has the keys of a scenario file: {@code Map.of("reason", "ServiceUnavailable", "count", 2)}.
     */
    public void faults(Map<?, ?>... faults) {
      gateway.call("PUT", "/tokens/%s/faults".formatted(token), Map.of("faults", List.of(faults)));
    }

    /** Removes the device: pushes to its token get 410 Unregistered. */
    public void delete() { gateway.call("DELETE", "/devices/%s".formatted(token), null); }
  }

  /** Returns an expectation of one accepted push, for more conditions. */
  public static Expectation push() { return new Expectation(); }

  /** The expected fields and options of pushes. */
  public static final class Expectation {
    private final Map<String, Object> match = new LinkedHashMap<>();
    private final Map<String, Object> options = new LinkedHashMap<>();

    /** Expects a field as "badge", "push-type" or "payload./url": null is a missing field, a pattern is searched in the text. */
    public Expectation with(String field, Object value) {
      if (value instanceof Pattern pattern) {
        if (pattern.flags() != 0) throw new IllegalArgumentException(field + ": the pattern has flags: omit them");
        match.put(field + "~", pattern.pattern());
      } else {
        match.put(field, value);
      }
      return this;
    }

    public Expectation title(String title) { return with("title", title); }
    public Expectation body(String body) { return with("body", body); }
    public Expectation presented() { return option("state", "presented"); }
    public Expectation suppressed() { return option("state", "suppressed"); }
    public Expectation refused() { return option("state", "refused"); }
    /** Includes pushes in any state, and without an answer. */
    public Expectation any() { return option("state", "any"); }
    /** Expects so many pushes or more; 0 expects none. */
    public Expectation count(int count) { return option("count", count); }
    /** Expects so many pushes and no more. */
    public Expectation exactly(int count) { return count(count).option("exactly", true); }
    /** Sets the time limit, by default two seconds. */
    public Expectation within(Duration time) { return option("within", time.toMillis() + "ms"); }
    /** Sets the time without a push after which {@link #exactly} expects no more. */
    public Expectation idle(Duration time) { return option("idle", time.toMillis() + "ms"); }
    /** Includes only pushes with a greater number. */
    public Expectation since(long number) { return option("since", number); }

    private Expectation option(String name, Object value) {
      options.put(name, value);
      return this;
    }

    private Map<String, Object> members() {
      Map<String, Object> members = new LinkedHashMap<>(options);
      members.put("match", match);
      return members;
    }
  }

  /** Returns the failure of an expectation: one line, and the pushes as a table, field by field. */
  private static AssertionError failure(Json answer, long recorded) {
    List<List<String>> rows = new ArrayList<>(List.of(List.of("push", "field", "expected", "found")));
    for (Json push : answer.list("/pushes").stream().limit(3).toList()) {
      rows.add(List.of(push.at("/number").toString(), "matches", "", title(push)));
    }
    for (Json nearest : answer.list("/nearest")) {
      String number = nearest.at("/push/number").toString();
      for (Json difference : nearest.list("/differences")) {
        boolean isFound = difference.value() instanceof Map<?, ?> members && members.containsKey("found");
        rows.add(List.of(number, difference.text("/field"), shortened(difference.at("/expected")),
            isFound ? shortened(difference.at("/found")) : "(missing)"));
        number = "";
      }
      if (nearest.at("/cause") != null) rows.add(List.of(number, "cause", "", printable(nearest.text("/cause"))));
    }
    StringBuilder text = new StringBuilder(answer.text("/detail"));
    if (rows.size() > 1) rows.forEach(row -> text.append("\n  ").append(line(row, rows)));
    if (answer.at("/recorded").equals(0L)) {
      text.append(recorded == 0
          ? "\nThe gateway has recorded no push at all: check the URL of the sender, and the certificate that it trusts."
          : "\nThe gateway has recorded %d other pushes: check the device token of the sender.".formatted(recorded));
    }
    if (!answer.at("/dropped").equals(0L)) text.append("\n%s older pushes have left the record.".formatted(answer.at("/dropped")));
    AssertionError error = new AssertionError(text.toString());
    // The first line of the trace is the line of the test.
    error.setStackTrace(Arrays.stream(error.getStackTrace())
        .filter(frame -> !frame.getClassName().startsWith(PushGatewayExtension.class.getName())).toArray(StackTraceElement[]::new));
    return error;
  }

  /** Returns a row of a table, in which each column is as wide as its longest cell. */
  private static String line(List<String> row, List<List<String>> rows) {
    return IntStream.range(0, row.size()).mapToObj(column -> {
      int width = rows.stream().mapToInt(each -> each.get(column).length()).max().orElse(1);
      return ("%-" + width + "s").formatted(row.get(column));
    }).collect(Collectors.joining("  ")).stripTrailing();
  }

  /** Returns the title of a push, or its payload. */
  private static String title(Json push) {
    return shortened(Stream.of("/payload/aps/alert/title", "/payload/aps/alert/body", "/payload/aps/alert", "/payload", "/payload_text")
        .map(push::at).filter(Objects::nonNull).findFirst().orElse(null));
  }

  private static String shortened(Object value) {
    String text = Json.write(value);
    return printable(text.length() > LONGEST ? text.substring(0, LONGEST) + "…" : text);
  }

  /** Writes control and format characters of a text as escapes. */
  private static String printable(String text) {
    return Pattern.compile("[\\p{Cc}\\p{Cf}]").matcher(text).replaceAll(found -> "\\\\u{%x}".formatted(found.group().codePointAt(0)));
  }

  /** A JSON value: a map, a list, a string, a long, a double, a boolean or null. */
  public record Json(Object value) {
    /** Returns the value at a JSON pointer, as "/payload/aps/badge"; null if it is missing. */
    public Object at(String pointer) {
      Object found = value;
      for (String part : pointer.isEmpty() ? new String[0] : pointer.substring(1).split("/", -1)) {
        String name = part.replace("~1", "/").replace("~0", "~");
        if (found instanceof Map<?, ?> members) found = members.get(name);
        else if (found instanceof List<?> list && name.matches("\\d{1,9}") && Integer.parseInt(name) < list.size()) {
          found = list.get(Integer.parseInt(name));
        } else return null;
      }
      return found;
    }

    /** Returns the string at a JSON pointer, or null. */
    public String text(String pointer) { return (String) at(pointer); }

    /** Returns the elements of the list at a JSON pointer. */
    public List<Json> list(String pointer) { return ((List<?>) at(pointer)).stream().map(Json::new).toList(); }

    @Override
    public String toString() { return write(value); }

    static Json read(String text) {
      Reader reader = new Reader(text);
      Json json = new Json(reader.value());
      if (reader.next() != '\0') throw reader.error();
      return json;
    }

    static String write(Object value) {
      if (value instanceof Map<?, ?> members) {
        return members.entrySet().stream().map(each -> write(each.getKey().toString()) + ":" + write(each.getValue()))
            .collect(Collectors.joining(",", "{", "}"));
      }
      if (value instanceof Collection<?> list) return list.stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
      if (value == null || value instanceof Number || value instanceof Boolean) return String.valueOf(value);
      StringBuilder text = new StringBuilder("\"");
      for (char unit : value.toString().toCharArray()) {
        if (unit == '"' || unit == '\\') text.append('\\').append(unit);
        else if (unit < ' ') text.append("\\u%04x".formatted((int) unit));
        else text.append(unit);
      }
      return text.append('"').toString();
    }

    /** Reads the JSON of the test API. */
    private static final class Reader {
      private final String text;
      private int place;

      Reader(String text) { this.text = text; }

      /** Returns the next character after white space, '\0' at the end. */
      char next() {
        while (place < text.length() && " \t\r\n".indexOf(text.charAt(place)) >= 0) place++;
        return place < text.length() ? text.charAt(place) : '\0';
      }

      IllegalArgumentException error() { return new IllegalArgumentException("expected JSON at character " + place + " of: " + text); }

      private boolean takes(char character) {
        if (next() != character) return false;
        place++;
        return true;
      }

      Object value() {
        if (takes('{')) {
          Map<String, Object> members = new LinkedHashMap<>();
          for (boolean isFirst = true; !takes('}'); isFirst = false) {
            if (!isFirst && !takes(',') || !takes('"')) throw error();
            String name = string();
            if (!takes(':')) throw error();
            members.put(name, value());
          }
          return members;
        }
        if (takes('[')) {
          List<Object> elements = new ArrayList<>();
          while (!takes(']')) {
            if (!elements.isEmpty() && !takes(',')) throw error();
            elements.add(value());
          }
          return elements;
        }
        return takes('"') ? string() : literal();
      }

      private Object literal() {
        int start = place;
        while (place < text.length() && ",]} \t\r\n".indexOf(text.charAt(place)) < 0) place++;
        String word = text.substring(start, place);
        if (word.equals("null")) return null;
        if (word.equals("true") || word.equals("false")) return word.equals("true");
        try {
          if (word.matches("-?\\d{1,18}")) return Long.valueOf(word);
          return Double.valueOf(word);
        } catch (NumberFormatException error) {
          throw error();
        }
      }

      private String string() {
        StringBuilder string = new StringBuilder();
        for (; place < text.length() && text.charAt(place) != '"'; place++) {
          char unit = text.charAt(place);
          if (unit == '\\' && ++place < text.length()) {
            int escape = "bfnrt".indexOf(text.charAt(place));
            if (text.charAt(place) == 'u' && place + 4 < text.length()) {
              unit = (char) Integer.parseInt(text.substring(place + 1, place + 5), 16);
              place += 4;
            } else unit = escape < 0 ? text.charAt(place) : "\b\f\n\r\t".charAt(escape);
          }
          string.append(unit);
        }
        if (place++ >= text.length()) throw error();
        return string.toString();
      }
    }
  }
}
