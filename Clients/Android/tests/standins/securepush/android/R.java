package securepush.android;

/** What Gradle makes of the library's resources. */
public final class R {
    /** The texts. */
    public static final class string {
        public static final int securepush_generic = 1;
        public static final int securepush_log_in = 2;
        public static final int securepush_locked = 3;
        public static final int securepush_hidden = 4;
        public static final int securepush_channel = 5;
        public static final int securepush_in_app = 6;
        public static final int securepush_answer_not_sent = 7;
        public static final int securepush_answer_in_app = 8;
        public static final int securepush_answer_too_late = 9;
        public static final int securepush_channel_passive = 10;
    }
}
