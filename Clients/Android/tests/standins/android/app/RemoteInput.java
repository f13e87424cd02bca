package android.app;

import android.content.Intent;
import android.os.Bundle;

/** A stand-in for tests: what the user writes on a notification. */
public class RemoteInput {
    public final String key;
    public CharSequence label;

    RemoteInput(String key) { this.key = key; }

    /** What the system does when the user has written a text. */
    public static void answer(Intent intent, String key, String text) {
        Bundle results = new Bundle();
        results.putString(key, text);
        intent.results = results;
    }

    public static Bundle getResultsFromIntent(Intent intent) { return intent.results; }

    /** A stand-in for tests. */
    public static class Builder {
        private final RemoteInput made;

        public Builder(String key) { made = new RemoteInput(key); }

        public Builder setLabel(CharSequence label) { made.label = label; return this; }
        public RemoteInput build() { return made; }
    }
}
