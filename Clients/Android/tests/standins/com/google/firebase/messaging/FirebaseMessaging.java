package com.google.firebase.messaging;

import com.google.android.gms.tasks.Task;

/** A stand-in for tests. */
public class FirebaseMessaging {
    public static String token = "token of this app";

    public static FirebaseMessaging getInstance() { return new FirebaseMessaging(); }

    public Task<String> getToken() { return new Task<>(token); }
}
