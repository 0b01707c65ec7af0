import java.io.InputStream;
import java.net.URI;
import java.net.http.*;
import java.nio.file.*;
import java.security.*;
import java.security.cert.CertificateFactory;
import java.time.Instant;
import java.util.*;
import javax.net.ssl.*;

/** An ordinary sender of pushes: a server that announces trains. It has no code for tests. */
class TrainServer {
  private final URI url;
  private final String topic;
  private final PrivateKey key;
  private final HttpClient client;
  private final Set<String> gone = new HashSet<>();
  private String token;
  private long signed;

  /** The file ca has the certificate to trust. */
  TrainServer(URI url, Path ca, PrivateKey key, String topic) throws Exception {
    this.url = url;
    this.key = key;
    this.topic = topic;
    KeyStore trust = KeyStore.getInstance(KeyStore.getDefaultType());
    trust.load(null);
    try (InputStream file = Files.newInputStream(ca)) {
      trust.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trust);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    client = HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_2).build();
  }

  /** Announces a train to a device, unless its token is gone. */
  void announce(String deviceToken, int minutes, int platform) throws Exception {
    if (gone.contains(deviceToken)) return;
    String payload = """
        {"aps":{"alert":{"title":"Train in %d Minutes","body":"Platform %d"},"badge":1},"platform":%d}"""
        .formatted(minutes, platform, platform);
    HttpRequest request = HttpRequest.newBuilder(url.resolve("/3/device/" + deviceToken))
        .header("authorization", "bearer " + providerToken()).header("apns-topic", topic)
        .header("apns-push-type", "alert").header("apns-expiration", "0")
        .POST(HttpRequest.BodyPublishers.ofString(payload)).build();
    HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() == 410) gone.add(deviceToken);
  }

  /** Returns one token for all pushes of 40 minutes. */
  private String providerToken() throws GeneralSecurityException {
    long now = Instant.now().getEpochSecond();
    if (now - signed > 2400) {
      Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();
      String header = "{\"alg\":\"ES256\",\"kid\":\"ABC1234567\"}";
      String claims = "{\"iss\":\"TEAM123456\",\"iat\":" + now + "}";
      String text = base64.encodeToString(header.getBytes()) + "." + base64.encodeToString(claims.getBytes());
      Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
      signature.initSign(key);
      signature.update(text.getBytes());
      token = text + "." + base64.encodeToString(signature.sign());
      signed = now;
    }
    return token;
  }
}
