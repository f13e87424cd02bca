package com.example.java;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import com.google.firebase.messaging.RemoteMessage;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import org.junit.Test;
import securepush.AnswerFailure;
import securepush.MemoryClientStore;
import securepush.PushDevice;
import securepush.PushID;
import securepush.android.FirebaseChannel;
import securepush.android.SecurePushMessagingService;
import securepush.simulation.SimulatedScreen;
import securepush.simulation.SimulatedServer;

/** An app in Java implements one function of the host, and uses the client without Kotlin's default arguments. */
public class JavaTests {
    private final SimulatedServer server = new SimulatedServer();
    private final SimulatedScreen screen = new SimulatedScreen();
    private final JavaApplication app = new JavaApplication(
        SimulatedServer.Companion.getUrl(), null, new MemoryClientStore(),
        (request, timeout, maxBytes) -> server.respond(request), new ThreadlessPresenter(screen));

    private <T> T result(java.util.concurrent.Future<T> future) throws Exception {
        return future.get(20, TimeUnit.SECONDS);
    }

    @Test
    public void theFlowOfAnAppInJava() throws Exception {
        assertTrue(app.getSecurePushChannel() instanceof FirebaseChannel);
        String id = result(app.logIn(SimulatedServer.USER, SimulatedServer.PASSWORD, "token"));
        assertTrue(server.getInstallations().containsKey(id));
        PushID sent = server.send("A secret.");
        SecurePushMessagingService service = new SecurePushMessagingService();
        service.attachBaseContext(app);
        service.onMessageReceived(new RemoteMessage(Collections.singletonMap("secureId", sent.getRawValue())));
        assertEquals(1, screen.count(sent));
        assertEquals("A secret.", result(app.newestMessage()));
        assertEquals(AnswerFailure.Reason.WRONG, result(app.approve(sent, "42")));
        assertEquals("", result(app.logOut()));
        assertNull(app.userName());
        assertTrue(server.getInstallations().isEmpty() && screen.getVisible().isEmpty());
    }

    @Test
    public void tagsAreAdded() {
        PushDevice device = app.taggedDevice("token");
        assertEquals("java", device.getTags().get(0));
        assertEquals("fcmv1", app.securePushDevice("token").getPlatform().getRawValue());
    }
}
