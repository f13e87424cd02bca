package com.example.securepush;

/** What Gradle makes of gradle.properties. */
public final class BuildConfig {
    public static final String RETRIEVAL_URL = "https://push.example.com";
    public static final String INGEST_URL = "https://ingest.example.com/";
}
