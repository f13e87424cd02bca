import org.jetbrains.kotlin.gradle.dsl.JvmTarget

plugins {
    id("com.android.application")
    id("org.jetbrains.kotlin.android")
    id("com.google.gms.google-services")
}

fun setting(name: String) = providers.gradleProperty("securepush.$name").get()

android {
    namespace = "com.example.securepush"
    compileSdk = 35

    defaultConfig {
        applicationId = setting("applicationId")
        minSdk = 26
        targetSdk = 35
        versionCode = 1
        versionName = "1.0"
        buildConfigField("String", "RETRIEVAL_URL", "\"${setting("retrievalUrl")}\"")
        buildConfigField("String", "INGEST_URL", "\"${setting("ingestUrl")}\"")
    }

    buildFeatures {
        buildConfig = true
    }

    buildTypes {
        release {
            isMinifyEnabled = true
            proguardFiles(getDefaultProguardFile("proguard-android-optimize.txt"))
        }
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
}

kotlin {
    compilerOptions {
        jvmTarget.set(JvmTarget.JVM_1_8)
    }
}

dependencies {
    implementation(project(":securepush"))
    // For push without Google.
    implementation("org.unifiedpush.android:connector:3.3.5")
}
