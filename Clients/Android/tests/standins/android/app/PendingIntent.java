package android.app;

import android.content.Context;
import android.content.Intent;

/** A stand-in for tests. */
public class PendingIntent {
    public static final int FLAG_MUTABLE = 1 << 25;
    public static final int FLAG_IMMUTABLE = 1 << 26;
    public static final int FLAG_UPDATE_CURRENT = 1 << 27;
    public Intent intent;
    public int flags;

    public static PendingIntent getBroadcast(Context context, int code, Intent intent, int flags) {
        return getActivity(context, code, intent, flags);
    }

    public static PendingIntent getActivity(Context context, int code, Intent intent, int flags) {
        PendingIntent pending = new PendingIntent();
        pending.intent = intent;
        pending.flags = flags;
        return pending;
    }
}
