package com.example.java;

import android.app.Application;
import java.net.URI;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import securepush.AnswerFailure;
import securepush.ClientStore;
import securepush.ClientStoreException;
import securepush.Display;
import securepush.InboxEntry;
import securepush.NotificationPresenter;
import securepush.PushDevice;
import securepush.PushID;
import securepush.PushKeySet;
import securepush.SecurePushClient;
import securepush.SecurePushConfiguration;
import securepush.SecurePushFailure;
import securepush.TokenCredentialsProvider;
import securepush.Transport;
import securepush.UserDevice;
import securepush.android.AndroidClock;
import securepush.android.SecurePushHost;

/** An app in Java: all that it has to write. A real one makes its store, transport and presenter itself. */
public class JavaApplication extends Application implements SecurePushHost {
    private final ExecutorService background = Executors.newSingleThreadExecutor();
    private final TokenCredentialsProvider credentials;
    private final SecurePushClient client;

    public JavaApplication(URI url, PushKeySet keys, ClientStore store, Transport transport,
            NotificationPresenter presenter) {
        AndroidClock clock = new AndroidClock();
        credentials = new TokenCredentialsProvider(url, store, transport, clock);
        SecurePushConfiguration configuration = new SecurePushConfiguration.Builder(url)
            .pushKeys(keys)
            .encryptsEndToEnd(true)
            .display(Display.REDACTED)
            .build();
        client = new SecurePushClient(configuration, credentials, store, transport, presenter, clock);
    }

    /** The only function of the host without a default. */
    @Override
    public SecurePushClient getSecurePushClient() {
        return client;
    }

    /** Logs in and registers; the installation's ID. */
    public Future<String> logIn(String userName, String password, String token) {
        return background.submit(() -> {
            credentials.logIn(userName, password);
            String id = client.register(securePushDevice(token));
            client.resumeAfterLogIn();
            return id;
        });
    }

    /** The text of the newest message. */
    public Future<String> newestMessage() {
        return background.submit(() -> {
            List<InboxEntry> entries = client.inbox().getEntries();
            return client.read(entries.get(entries.size() - 1).getId()).getText();
        });
    }

    /** Answers a message; why that does not count, {@code null} if it does. */
    public Future<AnswerFailure.Reason> approve(PushID id, String challenge) {
        return background.submit(() -> {
            try {
                client.answer(id, "approve", null, challenge);
                return null;
            } catch (AnswerFailure failure) {
                return failure.getReason();
            }
        });
    }

    /** Logs out; the code for support if that has failed. */
    public Future<String> logOut() {
        return background.submit(() -> {
            try {
                for (UserDevice device : client.devices()) {
                    if (!device.isThisDevice()) client.removeDevice(device.getId());
                }
                client.logOut();
                return "";
            } catch (SecurePushFailure failure) {
                return failure.getCode().getRawValue();
            }
        });
    }

    /** The user, also while the session has expired. */
    public String userName() throws ClientStoreException {
        return credentials.userName();
    }

    /** The device with a tag of the app. */
    public PushDevice taggedDevice(String token) {
        return new PushDevice(PushDevice.Platform.FCM_V1, token, java.util.Collections.singletonList("java"));
    }
}
