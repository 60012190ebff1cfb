// A subject in Java: how the platform itself keeps numbers, Double.toString and Double.parseDouble as they are.
//
//     packcheck verify --subject 'exec:java subjects/adapters/java/JavaSubject.java'
//
// Needs a JDK of version 11 or newer and no build: `java FILE` compiles one file and runs it, which is why the
// adapter stands below in the same file. To judge your own code, copy the file and replace this class.

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class JavaSubject {
  // conv2d, generation 2: name, word, lowest bit and largest value of each field.
  private static final Object[][] FIELDS = {
    {"kernel_h", 0, 16, 0xFFL}, {"kernel_w", 0, 8, 0xFFL}, {"stride", 0, 0, 0xFFL},
    {"padding", 1, 16, 0xFFFFL}, {"out_channels", 1, 0, 0xFFFFL},
  };

  private static byte[] print(List<byte[]> given) {
    double value = Double.longBitsToDouble(Packcheck.numbers(given.get(0)).getLong());
    return Double.toString(value).getBytes(StandardCharsets.ISO_8859_1);
  }

  private static byte[] parse(List<byte[]> given) {
    String text = new String(given.get(0), StandardCharsets.ISO_8859_1);
    try {
      return Packcheck.numbers(8).putLong(Double.doubleToRawLongBits(Double.parseDouble(text))).array();
    } catch (NumberFormatException why) {
      throw new Packcheck.Refused(why.getMessage());
    }
  }

  // As an exporter does: the fields become the bits of two doubles, whose raw bits are the answer.
  private static byte[] pack(List<byte[]> given) {
    check(given.get(0), given.get(1), 8 * FIELDS.length);
    ByteBuffer values = Packcheck.numbers(given.get(1));
    long[] words = {0, 0};
    for (Object[] field : FIELDS) {
      long value = values.getLong();
      long largest = (Long) field[3];
      if (value < 0 || value > largest)
        throw new Packcheck.Refused(field[0] + " is " + value + "; expected 0.." + largest);
      words[(Integer) field[1]] |= value << (Integer) field[2];
    }
    double scalar = Double.longBitsToDouble(words[0]);
    double param2 = Double.longBitsToDouble(words[1]);
    return Packcheck.numbers(16)
        .putLong(Double.doubleToRawLongBits(scalar)).putLong(Double.doubleToRawLongBits(param2)).array();
  }

  private static byte[] unpack(List<byte[]> given) {
    check(given.get(0), given.get(1), 16);
    ByteBuffer words = Packcheck.numbers(given.get(1));
    ByteBuffer values = Packcheck.numbers(8 * FIELDS.length);
    for (Object[] field : FIELDS)
      values.putLong(words.getLong(8 * (Integer) field[1]) >>> (Integer) field[2] & (Long) field[3]);
    return values.array();
  }

  private static void check(byte[] layout, byte[] numbers, int size) {
    if (!new String(layout, StandardCharsets.ISO_8859_1).equals("conv2d:gen2"))
      throw new Packcheck.Skipped("no such layout");
    if (numbers.length != size) throw new Packcheck.Refused(numbers.length + " bytes; expected " + size);
  }

  public static void main(String[] arguments) throws IOException {
    Packcheck adapter = new Packcheck("java", System.getProperty("java.version"));
    adapter.offers(JavaSubject::print, "print json");
    adapter.offers(JavaSubject::parse, "parse json non_finite=refuse");
    adapter.offers(JavaSubject::pack, "pack conv2d:gen2");
    adapter.offers(JavaSubject::unpack, "unpack conv2d:gen2");
    adapter.run();
  }
}

/**
 * Lets packcheck judge an implementation written in Java or Kotlin: the platform's own classes, nothing else.
 *
 * <p>A function gets the arguments of its operation as byte arrays and returns the answer as one (see
 * subjects/PROTOCOL.md for both). It throws Refused when the input is unsound and Skipped for a variant that
 * it does not have. Anything else that it throws is reported as an error of the adapter, which packcheck counts
 * against the subject. System.out goes to standard error, so that a stray println cannot damage a frame.
 */
class Packcheck {
  private static final String PROTOCOL_VERSION = "1";
  private static final int LARGEST_PAYLOAD = 256 << 20;

  /** The input is unsound; the message says why. */
  static class Refused extends RuntimeException {
    Refused(String message) { super(message); }
  }

  /** This variant is not offered. */
  static class Skipped extends RuntimeException {
    Skipped(String message) { super(message); }
  }

  /** What answers an operation. */
  interface Function {
    byte[] answer(List<byte[]> given) throws Exception;
  }

  private final String name;
  private final String version;
  private final List<String> declarations = new ArrayList<>();
  private final Map<String, Function> functions = new HashMap<>();

  Packcheck(String name, String version) {
    this.name = name;
    this.version = version;
  }

  /** The function answers these declarations, all of one operation. */
  void offers(Function function, String... lines) {
    String operation = lines[0].split(" ")[0];
    for (String line : lines) {
      if (!line.split(" ")[0].equals(operation)) throw new IllegalArgumentException("two operations: " + line);
      declarations.add(line);
    }
    if (functions.put(operation, function) != null) throw new IllegalArgumentException("twice: " + operation);
  }

  /** The little-endian numbers in an argument. */
  static ByteBuffer numbers(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Room for `size` bytes of little-endian numbers. */
  static ByteBuffer numbers(int size) {
    return numbers(new byte[size]);
  }

  /** Joins byte arrays, each behind its length. */
  private static byte[] encode(List<byte[]> parts) {
    int size = 0;
    for (byte[] part : parts) size = Math.addExact(size, Math.addExact(4, part.length));
    ByteBuffer joined = numbers(size);
    for (byte[] part : parts) joined.putInt(part.length).put(part);
    return joined.array();
  }

  /** The byte arrays in a payload. */
  private static List<byte[]> decode(byte[] payload) throws IOException {
    List<byte[]> parts = new ArrayList<>();
    ByteBuffer left = numbers(payload);
    while (left.hasRemaining()) {
      int size = left.remaining() < 4 ? -1 : left.getInt();
      if (size < 0 || size > left.remaining()) throw new IOException("a part runs past its payload");
      byte[] part = new byte[size];
      left.get(part);
      parts.add(part);
    }
    if (parts.isEmpty()) throw new IOException("a payload without parts");
    return parts;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static List<byte[]> reply(String word, String message) {
    return List.of(bytes(word), bytes(message));
  }

  /** The reply to one request, as parts. */
  private List<byte[]> answer(List<byte[]> parts) throws IOException {
    String word = new String(parts.get(0), StandardCharsets.ISO_8859_1);
    List<byte[]> given = parts.subList(1, parts.size());
    if (word.equals("hello")) return hello(given);
    if (word.equals("batch")) {
      List<byte[]> replies = new ArrayList<>(List.of(bytes("batch")));
      for (byte[] request : given) replies.add(encode(answer(decode(request))));
      return replies;
    }
    Function function = functions.get(word);
    if (function == null) return reply("skipped", "no such operation here");
    try {
      return List.of(bytes("answered"), function.answer(given));
    } catch (Refused why) {
      return reply("refused", String.valueOf(why.getMessage()));
    } catch (Skipped why) {
      return reply("skipped", String.valueOf(why.getMessage()));
    } catch (Throwable why) { // the adapter lives on and says what went wrong
      return reply("error", String.valueOf(why));
    }
  }

  private List<byte[]> hello(List<byte[]> given) {
    String spoken = given.size() == 1 ? new String(given.get(0), StandardCharsets.ISO_8859_1) : "";
    if (!spoken.equals(PROTOCOL_VERSION))
      return reply("refused", "protocol version '" + spoken + "'; expected '" + PROTOCOL_VERSION + "'");
    List<byte[]> parts = new ArrayList<>(List.of(bytes("hello"), bytes(PROTOCOL_VERSION), bytes(name), bytes(version)));
    for (String line : declarations) parts.add(bytes(line));
    return parts;
  }

  /** Answers until packcheck closes the pipe. */
  void run() throws IOException {
    System.setOut(System.err);
    DataInputStream requests = new DataInputStream(new FileInputStream(FileDescriptor.in));
    OutputStream replies = new FileOutputStream(FileDescriptor.out);
    for (int first; (first = requests.read()) >= 0; ) {
      byte[] header = {(byte) first, 0, 0, 0};
      requests.readFully(header, 1, 3);
      int size = numbers(header).getInt();
      if (size < 0 || size > LARGEST_PAYLOAD) throw new EOFException("a frame is too large");
      byte[] payload = new byte[size];
      requests.readFully(payload);
      byte[] reply = encode(answer(decode(payload)));
      replies.write(numbers(4 + reply.length).putInt(reply.length).put(reply).array());
    }
  }
}
