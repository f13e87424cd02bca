package com.example.securepush;

/** What Gradle makes of the example's resources. */
public final class R {
    /** The drawables. */
    public static final class drawable {
        public static final int ic_message = 100;
    }

    /** The texts. */
    public static final class string {
        public static final int app_user_name = 101;
        public static final int app_password = 102;
        public static final int app_log_in = 103;
        public static final int app_log_out = 104;
        public static final int app_send_push = 105;
        public static final int app_status_waiting = 106;
        public static final int app_status_no_token = 107;
        public static final int app_status_logged_out = 108;
        public static final int app_status_registered = 109;
        public static final int app_status_sent = 110;
        public static final int app_failure = 111;
        public static final int app_without_google = 112;
        public static final int app_status_no_distributor = 113;
        public static final int app_status_waiting_for_endpoint = 114;
        public static final int app_messages = 115;
        public static final int app_messages_none = 116;
        public static final int app_message_new = 117;
        public static final int app_message_read = 118;
        public static final int app_message_link = 119;
        public static final int app_answer_challenge = 120;
        public static final int app_answer_text = 121;
        public static final int app_answer_sent = 122;
        public static final int app_answer_other = 123;
        public static final int app_answer_over = 124;
        public static final int app_answer_wrong = 125;
        public static final int app_devices = 126;
        public static final int app_device = 127;
        public static final int app_device_this = 128;
        public static final int app_device_remove = 129;
        public static final int app_sign_out_everywhere = 130;
        public static final int app_fingerprint = 131;
        public static final int app_fingerprint_none = 132;
        public static final int app_failure_password = 133;
        public static final int app_failure_gone = 134;
        public static final int app_failure_not_for_this_device = 135;
        public static final int app_failure_not_decrypted = 136;
        public static final int app_failure_not_trusted = 137;
        public static final int app_failure_no_key = 138;
        public static final int app_failure_not_sent = 139;
        public static final int app_failure_no_endpoint = 140;
    }
}
