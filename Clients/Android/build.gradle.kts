// The library, for Android 8 (API 26) and later, with Kotlin 2. An app includes this folder as a module, as
// Examples/Android does, or takes it from a Maven repository: see README.md.
import org.jetbrains.kotlin.gradle.dsl.JvmTarget

plugins {
    id("com.android.library")
    id("org.jetbrains.kotlin.android")
    `maven-publish`
}

group = "securepush"
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

    publishing {
        singleVariant("release") {
            withSourcesJar()
        }
    }
}

kotlin {
    compilerOptions {
        jvmTarget.set(JvmTarget.JVM_1_8)
        // Java apps need not implement the functions of SecurePushHost that have a default.
        freeCompilerArgs.add("-Xjvm-default=all")
    }
}

dependencies {
    // FirebaseMessagingService is the superclass of the SDK's service. An app without Google excludes it.
    api("com.google.firebase:firebase-messaging:24.1.0")
    // For SuspendingClient. An app that uses it adds the library.
    compileOnly("org.jetbrains.kotlinx:kotlinx-coroutines-core:1.9.0")
    // MessagingReceiver is the superclass of the SDK's receiver. An app with UnifiedPush adds it.
    compileOnly("org.unifiedpush.android:connector:3.3.5")
}

// `gradle :securepush:publishToMavenLocal`, or `publish` with the repository of -PmavenUrl=https://….
publishing {
    publications {
        register<MavenPublication>("release") {
            artifactId = "securepush-android"
            afterEvaluate { from(components["release"]) }
            pom {
                name.set("SecurePush for Android")
                description.set("Receives SecurePush notifications: fetches secrets with the user's credentials.")
                licenses {
                    license {
                        name.set("Apache-2.0")
                        url.set("https://www.apache.org/licenses/LICENSE-2.0")
                    }
                }
            }
        }
    }
    repositories {
        providers.gradleProperty("mavenUrl").orNull?.let { address ->
            maven {
                name = "own"
                url = uri(address)
                credentials(PasswordCredentials::class)
            }
        }
    }
}
