#include "CSounds.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char alarm_wav[] = {
#embed "wav/alarm.wav"
};
static const unsigned char bell_wav[] = {
#embed "wav/bell.wav"
};
static const unsigned char chime_wav[] = {
#embed "wav/chime.wav"
};
static const unsigned char default_wav[] = {
#embed "wav/default.wav"
};
static const unsigned char ding_wav[] = {
#embed "wav/ding.wav"
};
static const unsigned char failure_wav[] = {
#embed "wav/failure.wav"
};
static const unsigned char knock_wav[] = {
#embed "wav/knock.wav"
};
static const unsigned char pop_wav[] = {
#embed "wav/pop.wav"
};
static const unsigned char success_wav[] = {
#embed "wav/success.wav"
};
static const unsigned char whisper_wav[] = {
#embed "wav/whisper.wav"
};

static const struct {
  const char *name;
  const unsigned char *bytes;
  size_t size;
} sounds[] = {
    {"alarm", alarm_wav, sizeof alarm_wav},       {"bell", bell_wav, sizeof bell_wav},
    {"chime", chime_wav, sizeof chime_wav},       {"default", default_wav, sizeof default_wav},
    {"ding", ding_wav, sizeof ding_wav},          {"failure", failure_wav, sizeof failure_wav},
    {"knock", knock_wav, sizeof knock_wav},       {"pop", pop_wav, sizeof pop_wav},
    {"success", success_wav, sizeof success_wav}, {"whisper", whisper_wav, sizeof whisper_wav},
};

size_t sound_count(void) { return sizeof sounds / sizeof *sounds; }

const char *sound_name(size_t index) { return sounds[index].name; }

const unsigned char *sound_bytes(size_t index) { return sounds[index].bytes; }

size_t sound_size(size_t index) { return sounds[index].size; }
