package android.app;

import android.content.Context;
import android.os.Bundle;

/** A stand-in for tests. */
public class Notification {
    public static final int VISIBILITY_PRIVATE = 0;
    public Bundle extras = new Bundle();
    public CharSequence text;
    public CharSequence bigText;
    public int smallIcon;
    public int visibility = 1;
    public boolean autoCancel;
    public boolean localOnly;
    public String channel;
    public PendingIntent contentIntent;
    public Notification publicVersion;

    /** A stand-in for tests. */
    public abstract static class Style { }

    /** A stand-in for tests. */
    public static class BigTextStyle extends Style {
        CharSequence text;

        public BigTextStyle bigText(CharSequence text) {
            this.text = text;
            return this;
        }
    }

    /** A stand-in for tests. */
    public static class Builder {
        private final Notification made = new Notification();

        public Builder(Context context, String channel) { made.channel = channel; }

        public Builder setSmallIcon(int icon) { made.smallIcon = icon; return this; }
        public Builder setContentText(CharSequence text) { made.text = text; return this; }
        public Builder setStyle(Style style) { made.bigText = ((BigTextStyle) style).text; return this; }
        public Builder setVisibility(int value) { made.visibility = value; return this; }
        public Builder setAutoCancel(boolean value) { made.autoCancel = value; return this; }
        public Builder setLocalOnly(boolean value) { made.localOnly = value; return this; }
        public Builder setContentIntent(PendingIntent intent) { made.contentIntent = intent; return this; }
        public Builder addExtras(Bundle extras) { made.extras.putAll(extras); return this; }
        public Builder setPublicVersion(Notification version) { made.publicVersion = version; return this; }

        public Notification build() {
            if (made.smallIcon == 0) throw new IllegalArgumentException("Invalid notification (no valid small icon)");
            return made;
        }
    }
}
