// The library, for Android 8 (API 26) and later. An app includes this folder as a module; see Examples/Android.
plugins {
    id("com.android.library")
    id("org.jetbrains.kotlin.android")
}

version = "0.2.0-alpha.1"

android {
    namespace = "securepush.android"
    compileSdk = 35

    defaultConfig {
        minSdk = 26
        consumerProguardFiles("consumer-rules.pro")
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }

    kotlinOptions {
        jvmTarget = "1.8"
    }
}

dependencies {
    // Ed25519 and X25519 for the versions of Android that have neither. R8 leaves out the rest of it.
    implementation("org.bouncycastle:bcprov-jdk18on:1.78.1")
    // FirebaseMessagingService is the superclass of the SDK's service. An app without Google excludes it.
    api("com.google.firebase:firebase-messaging:24.1.0")
    // MessagingReceiver is the superclass of the SDK's receiver. An app with UnifiedPush adds it.
    compileOnly("org.unifiedpush.android:connector:3.3.5")
}
