package android.app;

import android.service.notification.StatusBarNotification;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** A stand-in for tests: it shows as much as Android does, and says nothing when it shows no more. */
public class NotificationManager {
    public static final int IMPORTANCE_NONE = 0;
    public static final int IMPORTANCE_LOW = 2;
    public static final int IMPORTANCE_HIGH = 4;
    private static final int MOST = 25;
    public boolean isAllowed = true;
    public final Map<String, NotificationChannel> channels = new HashMap<>();
    public final Map<String, StatusBarNotification> shown = new LinkedHashMap<>();
    public int dropped;

    public boolean areNotificationsEnabled() { return isAllowed; }

    public NotificationChannel getNotificationChannel(String id) { return channels.get(id); }

    public void createNotificationChannel(NotificationChannel channel) { channels.put(channel.id, channel); }

    public void notify(String tag, int id, Notification notification) {
        String key = tag + "/" + id;
        boolean isFull = shown.size() >= MOST && !shown.containsKey(key);
        NotificationChannel channel = channels.get(notification.channel);
        if (!isAllowed || isFull || channel == null || channel.getImportance() == IMPORTANCE_NONE) {
            dropped += 1;
            return;
        }
        shown.put(key, new StatusBarNotification(tag, id, notification));
    }

    public void cancel(String tag, int id) { shown.remove(tag + "/" + id); }

    public StatusBarNotification[] getActiveNotifications() {
        return shown.values().toArray(new StatusBarNotification[0]);
    }
}
