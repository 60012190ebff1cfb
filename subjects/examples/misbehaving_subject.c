/* misbehaving_subject.c: a library that does one thing wrong, for the tests of the worker.
 *
 * Compile it with -DMISBEHAVE_<what>. It repacks bf16->f32 and prints numbers correctly, except for
 * the element or bits 0x0BAD, on which it misbehaves; a few misbehave while they are loaded.
 */
#define _DEFAULT_SOURCE /* for MAP_ANONYMOUS */
#include <fenv.h>
#include <packcheck/subject.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { TRIGGER = 0x0BAD };

#if defined(MISBEHAVE_crash_in_constructor)
__attribute__((constructor)) static void crash_when_loaded(void) { abort(); }
#elif defined(MISBEHAVE_exit_in_constructor)
__attribute__((constructor)) static void exit_when_loaded(void) { exit(4); }
#elif defined(MISBEHAVE_flush_to_zero_when_loaded) && defined(__x86_64__)
/* What linking with -ffast-math does. */
__attribute__((constructor)) static void set_flush_to_zero(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
#endif

#if defined(MISBEHAVE_eat_memory) || defined(MISBEHAVE_large_leak) || defined(MISBEHAVE_slow_leak)
static void* volatile kept; /* so that no compiler removes an allocation */
#endif

/* The misbehaviour itself; the output already holds the right answer. */
static int misbehave(const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size, packcheck_error* error) {
  (void)in, (void)in_size, (void)out, (void)out_size, (void)error;
#if defined(MISBEHAVE_segfault)
  *(volatile int*)8 = 1;
#elif defined(MISBEHAVE_abort)
  abort();
#elif defined(MISBEHAVE_exit_3)
  exit(3);
#elif defined(MISBEHAVE_loop_for_ever)
  for (volatile int forever = 1; forever;) continue;
#elif defined(MISBEHAVE_eat_memory)
  for (;;) {
    void* const block = malloc(1 << 20);
    if (block != NULL) memset(block, 1, 1 << 20);
    kept = block;
  }
#elif defined(MISBEHAVE_eat_memory_and_give_it_back)
  const size_t size = 4 << 20;
  void* const block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block != MAP_FAILED) memset(block, 1, size);
  if (block != MAP_FAILED) munmap(block, size);
#elif defined(MISBEHAVE_large_leak)
  void* const block = malloc(20 << 20);
  if (block != NULL) memset(block, 1, 20 << 20);
  kept = block;
#elif defined(MISBEHAVE_slow_leak)
  kept = malloc(100);
#elif defined(MISBEHAVE_write_past)
  out[out_size] ^= 1;
#elif defined(MISBEHAVE_write_before)
  out[-3] ^= 1;
#elif defined(MISBEHAVE_write_far_past)
  memset(out, 0, out_size + (1 << 16));
#elif defined(MISBEHAVE_write_past_message)
  memset(error, 'x', sizeof *error + 1);
#elif defined(MISBEHAVE_message_without_nul)
  memset(error, 'x', sizeof *error);
  return PACKCHECK_REFUSED;
#elif defined(MISBEHAVE_unprintable_message)
  snprintf(error->message, sizeof error->message, "line\nstray \xFF, fine \xC3\xA9");
  return PACKCHECK_REFUSED;
#elif defined(MISBEHAVE_garbage_code)
  return 42;
#elif defined(MISBEHAVE_rounding_mode)
  fesetround(FE_UPWARD);
#elif defined(MISBEHAVE_flush_to_zero) && defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(MISBEHAVE_write_input)
  *(volatile uint8_t*)(uintptr_t)in = 0;
#elif defined(MISBEHAVE_read_past_input)
  return ((const volatile uint8_t*)in)[in_size] == 0x5A ? PACKCHECK_REFUSED : PACKCHECK_OK;
#elif defined(MISBEHAVE_write_standard_output)
  puts("a line that must not reach packcheck");
  fflush(stdout);
#endif
  return PACKCHECK_OK;
}

static int repack(const char* from, const char* to, const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size,
                  packcheck_error* error) {
  if (strcmp(from, "bf16") != 0 || strcmp(to, "f32") != 0) return PACKCHECK_UNSUPPORTED;
  int trigger = 0;
  for (size_t i = 0; i < in_size / 2; ++i) trigger |= (in[2 * i] | in[2 * i + 1] << 8) == TRIGGER;
  for (size_t i = 0; i < in_size / 2; ++i) {
#if defined(MISBEHAVE_leave_unwritten)
    if (trigger && i == in_size / 2 - 1) break;
#endif
    const uint8_t element[4] = {0, 0, in[2 * i], in[2 * i + 1]};
    memcpy(out + 4 * i, element, sizeof element);
  }
  return trigger ? misbehave(in, in_size, out, out_size, error) : PACKCHECK_OK;
}

static int print(uint64_t bits, char* text, size_t capacity, size_t* size, packcheck_error* error) {
  (void)error;
  double value;
  memcpy(&value, &bits, sizeof value);
  const int length = snprintf(text, capacity, "%.17g", value);
#if defined(MISBEHAVE_size_past_capacity)
  *size = bits == TRIGGER ? capacity + 1 : (size_t)length;
#elif defined(MISBEHAVE_text_unwritten)
  *size = bits == TRIGGER ? (size_t)length + 100 : (size_t)length;
#elif defined(MISBEHAVE_size_unwritten)
  if (bits != TRIGGER) *size = (size_t)length;
#else
  *size = (size_t)length;
#endif
  return PACKCHECK_OK;
}

#if defined(MISBEHAVE_refuse_unread) || defined(MISBEHAVE_read_before_refusing)
/* Refuses every tensor, and says that it asked for no byte before; one of the two lies. */
static int repack_tensor(const char* source, const uint8_t* tensor, size_t size, uint8_t* out, size_t capacity,
                         size_t* out_size, packcheck_error* error) {
  static const char refusal[] = "outcome=refused reads=0 dtype=-\nno";
  (void)source, (void)error;
  size_t at = 0;
  while (at < size && tensor[at] != '\n') ++at;
#if defined(MISBEHAVE_read_before_refusing)
  volatile uint8_t sum = 0;
  while (++at < size) sum = (uint8_t)(sum + tensor[at]);
#endif
  *out_size = sizeof refusal - 1;
  if (*out_size <= capacity) memcpy(out, refusal, *out_size);
  return PACKCHECK_OK;
}
#endif

#if !defined(MISBEHAVE_no_entry_point)
const packcheck_subject* packcheck_subject_v1(void) {
  static const char* const declarations[] = {
    "repack bf16->f32 nan=same",
#if !defined(MISBEHAVE_undeclared_function)
    "print json",
#endif
#if defined(MISBEHAVE_refuse_unread) || defined(MISBEHAVE_read_before_refusing)
    "repack_tensor dense(f16)",
#endif
#if defined(MISBEHAVE_unknown_declaration)
    "repack f8->f32",
#elif defined(MISBEHAVE_declared_twice)
    "print json",
#elif defined(MISBEHAVE_null_function)
    "parse json",
#endif
    NULL
  };
  static packcheck_subject subject = {.struct_size = sizeof(packcheck_subject),
                                      .name = "misbehaving",
                                      .version = "1",
                                      .declarations = declarations,
                                      .repack = repack,
#if defined(MISBEHAVE_refuse_unread) || defined(MISBEHAVE_read_before_refusing)
                                      .repack_tensor = repack_tensor,
#endif
                                      .print = print};
#if defined(MISBEHAVE_null_table)
  return NULL;
#elif defined(MISBEHAVE_small_table)
  subject.struct_size = offsetof(packcheck_subject, affine_dequantize); /* less than the first version had */
#elif defined(MISBEHAVE_large_table)
  subject.struct_size = sizeof subject + sizeof(void*); /* a later version's table is welcome */
#elif defined(MISBEHAVE_bad_name)
  subject.name = "no spaces, please";
#endif
  return &subject;
}
#endif
