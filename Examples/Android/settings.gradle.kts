pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
}

dependencyResolutionManagement {
    repositories {
        google()
        mavenCentral()
    }
}

rootProject.name = "SecurePushExample"
include(":app")

// The SDK, from its sources. An app in a repository of its own copies that folder, or adds it as a submodule.
include(":securepush")
project(":securepush").projectDir = file("../../Clients/Android")
