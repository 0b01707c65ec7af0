import static pushgateway.PushGatewayExtension.push;

import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.*;
import org.junit.jupiter.api.extension.ExtendWith;
import pushgateway.PushGatewayExtension;
import pushgateway.PushGatewayExtension.*;

@ExtendWith(PushGatewayExtension.class)
@Topic("com.example.train")
class TrainServerTest {
  static TrainServer server;

  @BeforeAll
  static void start(PushGateway gateway) throws Exception {
    KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
    keys.initialize(new ECGenParameterSpec("secp256r1"));
    server = new TrainServer(gateway.apns, gateway.ca, keys.generateKeyPair().getPrivate(), "com.example.train");
  }

  @Test
  void aTrainIsAnnounced(PushDevice device) throws Exception {
    server.announce(device.token, 5, 4);
    device.expect(push().title("Train in 5 Minutes").with("body", Pattern.compile("^Platform \\d$"))
        .with("payload./platform", 4).presented());
  }

  @Test
  void anUninstalledAppGetsNoMoreAnnouncements(PushDevice device) throws Exception {
    device.state("unregistered");
    server.announce(device.token, 5, 4);
    Json refused = device.expect(push().with("reason", "Unregistered").refused()).get(0);
    server.announce(device.token, 3, 4);
    device.expectNone(push().since((long) refused.at("/number")).within(Duration.ofMillis(200)));
  }
}
