import static org.junit.jupiter.api.Assertions.*;
import static pushgateway.PushGatewayExtension.push;

import java.security.*;
import java.time.Duration;
import java.util.*;
import java.util.regex.Pattern;
import org.junit.jupiter.api.*;
import org.junit.jupiter.api.extension.ExtendWith;
import pushgateway.PushGatewayExtension;
import pushgateway.PushGatewayExtension.*;

/** Run by test_test_clients.py, which expects the failures that it names: all but a2Functions. */
@ExtendWith(PushGatewayExtension.class)
@Topic("com.example.train")
@TestMethodOrder(MethodOrderer.MethodName.class)
class FailureTest {
  static final Duration SHORT = Duration.ofMillis(1);
  PushDevice first;
  TrainServer server;

  @BeforeEach
  void start(PushGateway gateway, PushDevice device) throws Exception {
    first = device;
    KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
    keys.initialize(256);
    server = new TrainServer(gateway.apns, gateway.ca, keys.generateKeyPair().getPrivate(), "com.example.train");
  }

  @Test
  void a1Missing(PushDevice device) { device.expect(push().within(SHORT)); }

  @Test
  void a2Functions(PushGateway gateway, PushDevice device, @Topic("com.example.tram") PushDevice other) throws Exception {
    assertSame(first, device);
    assertNotEquals(device.token, other.token);
    assertEquals(List.of("com.example.train", "com.example.tram"), List.of(device.topic, other.topic));
    server.announce(device.token, 5, 4);
    server.announce(device.token, 3, 4);
    List<Json> pushes = device.expect(push().with("title", Pattern.compile("^Train")).with("push-type", "alert")
        .with("payload./platform", 4).with("thread-id", null).exactly(2).idle(SHORT));
    assertEquals(List.of("Train in 5 Minutes", "Train in 3 Minutes"),
        pushes.stream().map(each -> each.at("/payload/aps/alert/title")).toList());
    assertEquals("Train in 3 Minutes", device.pushes().get(1).text("/payload/aps/alert/title"));
    assertEquals("view", device.answer("view"));
    assertEquals("view", device.answer("view", pushes.get(0).text("/id")));
    device.state("unavailable", Duration.ofMinutes(1));
    device.state("registered");
    other.faults(Map.of("reason", "ServiceUnavailable", "retry-after", 5), Map.of("drop", true, "count", 1));
    other.faults();
    gateway.tls("expired");
    gateway.tls("valid");
    device.expectNone(push().since((long) pushes.get(1).at("/number")).within(SHORT));
    other.expectNone(SHORT);
    device.delete();
    assertEquals(3_660_000L, gateway.clock(Duration.ofMinutes(61)).at("/offset"));
    assertEquals(3_660_000L, gateway.clock().at("/offset"));
    assertEquals(0L, gateway.resetClock().at("/offset"));
    assertEquals(List.of(), gateway.report().list("/lines"));
  }

  @Test
  void a3Different(PushGateway gateway) throws Exception {
    PushDevice device = gateway.device(Map.of("topic", "com.example.train",
        "preferences", Map.of("apps", Map.of("com.example.train", Map.of("alert", false)))));
    server.announce(device.token, 5, 4);
    device.expect(push().suppressed());
    device.expect(push().title("Train \u001b\u202e\"").with("badge", 1).with("sound", "x").presented().within(SHORT));
  }

  @Test
  void a4Counted(PushDevice device) throws Exception {
    server.announce(device.token, 5, 4);
    device.expect(push().any().count(2).within(SHORT));
  }

  @Test
  void a5Unexpected(PushDevice device) throws Exception {
    device.state("throttled", 1);
    server.announce(device.token, 5, 4);
    device.expectNone(SHORT);
  }

  @Test
  void a6Refused(PushDevice device) throws Exception {
    device.state("throttled");
    server.announce(device.token, 5, 4);
    device.expect(push().within(SHORT));
  }

  @Test
  void a7UnknownField(PushDevice device) { device.expect(push().with("titel", "x")); }
}
