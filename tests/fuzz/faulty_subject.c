/* faulty_subject.c: prints doubles as it should, and does with one that is no number what FAULT in the environment
 * says: crash or hang. For the tests of fuzz targets. */
#include <math.h>
#include <packcheck/subject.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print(uint64_t bits, char* text, size_t capacity, size_t* size, packcheck_error* error) {
  double value;
  memcpy(&value, &bits, sizeof value);
  if (isfinite(value)) {
    *size = (size_t)snprintf(text, capacity, "%.17g", value);
    return PACKCHECK_OK;
  }
  const char* const fault = getenv("FAULT") == NULL ? "" : getenv("FAULT");
  if (strcmp(fault, "crash") == 0) abort();
  while (strcmp(fault, "hang") == 0) continue;
  snprintf(error->message, sizeof error->message, "no JSON number");
  return PACKCHECK_REFUSED;
}

const packcheck_subject* packcheck_subject_v1(void) {
  static const char* const declarations[] = {"print json", NULL};
  static const packcheck_subject subject = {.struct_size = sizeof(packcheck_subject),
                                            .name = "faulty",
                                            .version = "1.0",
                                            .declarations = declarations,
                                            .print = print};
  return &subject;
}
