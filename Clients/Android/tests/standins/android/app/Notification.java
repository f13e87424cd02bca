package android.app;

import android.content.Context;
import android.graphics.drawable.Icon;
import android.os.Bundle;
import java.util.ArrayList;
import java.util.List;

/** A stand-in for tests. */
public class Notification {
    public static final int VISIBILITY_PRIVATE = 0;
    public static final int GROUP_ALERT_CHILDREN = 2;
    public static final String CATEGORY_MESSAGE = "msg";
    public static final String CATEGORY_EMAIL = "email";
    public static final String CATEGORY_EVENT = "event";
    public static final String CATEGORY_PROMO = "promo";
    public static final String CATEGORY_REMINDER = "reminder";
    public static final String CATEGORY_SOCIAL = "social";
    public static final String CATEGORY_STATUS = "status";
    public static final String CATEGORY_ERROR = "err";
    public static final String CATEGORY_RECOMMENDATION = "recommendation";
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
    public CharSequence title;
    public String category;
    public String group;
    public boolean isGroupSummary;
    public int groupAlertBehavior;
    public long timeoutAfter;
    public final List<Action> actions = new ArrayList<>();

    public String getGroup() { return group; }

    /** A stand-in for tests: a button. */
    public static class Action {
        public CharSequence title;
        public PendingIntent intent;
        public RemoteInput input;
        public boolean isAuthenticationRequired;

        /** A stand-in for tests. */
        public static class Builder {
            private final Action made = new Action();

            public Builder(Icon icon, CharSequence title, PendingIntent intent) {
                made.title = title;
                made.intent = intent;
            }

            public Builder addRemoteInput(RemoteInput input) { made.input = input; return this; }
            public Builder setAuthenticationRequired(boolean value) {
                made.isAuthenticationRequired = value;
                return this;
            }
            public Action build() { return made; }
        }
    }

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
        public Builder setContentTitle(CharSequence title) { made.title = title; return this; }
        public Builder setCategory(String category) { made.category = category; return this; }
        public Builder setGroup(String group) { made.group = group; return this; }
        public Builder setGroupSummary(boolean value) { made.isGroupSummary = value; return this; }
        public Builder setGroupAlertBehavior(int value) { made.groupAlertBehavior = value; return this; }
        public Builder setTimeoutAfter(long millis) { made.timeoutAfter = millis; return this; }
        public Builder addAction(Action action) { made.actions.add(action); return this; }
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
