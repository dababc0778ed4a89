package org.apache.spark.sql.streamapp

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, EOFException, IOException}
import java.net.{StandardProtocolFamily, UnixDomainSocketAddress}
import java.nio.ByteBuffer
import java.nio.channels.{Channels, ClosedChannelException, ServerSocketChannel, SocketChannel}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardCopyOption}
import java.nio.file.attribute.PosixFilePermissions
import java.security.{MessageDigest, SecureRandom}
import java.util.{HexFormat, Map => JavaMap}

import scala.collection.mutable

import org.apache.arrow.vector.ipc.{ReadChannel, WriteChannel}
import org.apache.arrow.vector.ipc.message.MessageSerializer

import org.apache.spark.SparkEnv
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.util.ArrowUtils

/** Has an expression server in each JVM that runs Python workers: in executors, or in a driver without any. */
final class ExpressionPlugin extends SparkPlugin {
  override def driverPlugin: DriverPlugin = null

  override def executorPlugin: ExecutorPlugin = new ExecutorPlugin {
    private var server: Option[ExpressionServer] = None

    override def init(context: PluginContext, extra: JavaMap[String, String]): Unit = {
      val settings = context.conf.getAll.toSeq.filter(_._1.startsWith("spark.sql."))
      server = Some(new ExpressionServer(ExpressionServer.addressFolder, settings))
    }

    override def shutdown(): Unit = server.foreach(_.close())
  }
}

/** Evaluates Spark's expressions on Arrow batches that Python workers send through a Unix socket.
  *
  * Workers know `folder`, and find the path of the socket and the secret in a file of it. Whoever connects
  * can run code of this JVM: the folder of the socket and that file are their owner's alone.
  */
final class ExpressionServer(folder: Path, settings: Seq[(String, String)]) extends AutoCloseable {
  import ExpressionServer._

  private val secret = {
    val bytes = new Array[Byte](32)
    new SecureRandom().nextBytes(bytes)
    HexFormat.of().formatHex(bytes).getBytes(UTF_8)
  }
  private val place = Files.createTempDirectory("streamapp-expressions-")
  private val path = place.resolve("socket")
  private val listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
  listener.bind(UnixDomainSocketAddress.of(path))
  start("expressions", accept())
  announce()

  override def close(): Unit = {
    listener.close()
    Files.deleteIfExists(path)
    Files.deleteIfExists(place)
  }

  private def announce(): Unit = {
    val owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
    val written = Files.createTempFile(folder, AddressFile, ".new", owner)
    Files.write(written, s"$path\n${new String(secret, UTF_8)}\n".getBytes(UTF_8))
    Files.move(written, folder.resolve(AddressFile), StandardCopyOption.ATOMIC_MOVE)
  }

  private def accept(): Unit =
    try while (true) {
      val worker = listener.accept()
      start("expressions of a worker", serve(worker))
    } catch { case _: ClosedChannelException => }

  private def serve(worker: SocketChannel): Unit = {
    val conf = ExpressionAnalyzer.confOf(settings)
    try {
      val connection = new WorkerConnection(worker, conf)
      try {
        if (MessageDigest.isEqual(connection.bytes(secret.length), secret)) {
          SQLConf.withExistingConf(conf) { while (true) connection.answer() }
        }
      } finally connection.close()
    } catch {
      case _: IOException => // The worker has ended.
      // An executor ends with what nobody catches: nothing but this connection is to end.
      case error: Throwable => error.printStackTrace()
    }
  }
}

object ExpressionServer {

  /** The name of the file with the address, in the first local directory of the JVM's block manager. */
  val AddressFile = "streamapp-expressions"

  /** That directory: workers are told of it, and whoever calls this JVM asks here. */
  def addressFolder: Path = SparkEnv.get.blockManager.diskBlockManager.localDirs.head.toPath

  /** A server in a JVM without a context, with the settings of a JSON object. */
  def inFolder(folder: String, settings: String): ExpressionServer =
    new ExpressionServer(Path.of(folder), ExpressionAnalyzer.settingsOf(settings))

  private def start(name: String, body: => Unit): Unit = {
    val thread = new Thread(() => body, name)
    thread.setDaemon(true)
    thread.start()
  }
}

/** The programs of one worker, which end with its connection.
  *
  * A request is a kind, a number and the length of what follows: the JSON of a program, or an Arrow message
  * of rows for the program of that number. A reply is a status and the length of what follows.
  */
private final class WorkerConnection(worker: SocketChannel, conf: SQLConf) extends AutoCloseable {
  import WorkerConnection._

  private val allocator = ArrowUtils.rootAllocator.newChildAllocator("expressions", 0, Long.MaxValue)
  private val programs = mutable.ArrayBuffer[ExpressionProgram]()
  private val reply = new ReplyBuffer

  override def close(): Unit = {
    programs.foreach(_.close())
    allocator.close()
    worker.close()
  }

  def bytes(length: Int): Array[Byte] = {
    val buffer = ByteBuffer.allocate(length)
    while (buffer.hasRemaining) if (worker.read(buffer) < 0) throw new EOFException
    buffer.array
  }

  def answer(): Unit = {
    val header = ByteBuffer.wrap(bytes(HeaderLength))
    val (kind, number, length) = (header.getInt, header.getInt, header.getInt)
    val body = bytes(length)
    reply.reset()
    val status =
      try {
        kind match {
          case MakeProgram => make(new String(body, UTF_8))
          case EvaluateRows => evaluate(programs(number), body)
        }
        Done
      } catch {
        case error: Throwable =>
          reply.reset()
          reply.write(String.valueOf(error.getMessage).getBytes(UTF_8))
          Refused
      }
    reply.sendTo(worker, status)
  }

  private def make(text: String): Unit = {
    val program = ExpressionProgram(text, conf, allocator)
    reply.write(ByteBuffer.allocate(4).putInt(programs.length).array)
    programs += program
    MessageSerializer.serialize(new WriteChannel(Channels.newChannel(reply)), program.schema)
  }

  private def evaluate(program: ExpressionProgram, message: Array[Byte]): Unit = {
    val rows = new ReadChannel(Channels.newChannel(new ByteArrayInputStream(message)))
    val batch = MessageSerializer.deserializeRecordBatch(rows, allocator)
    try program.load(batch)
    finally batch.close()
    val result = program.evaluate()
    try MessageSerializer.serialize(new WriteChannel(Channels.newChannel(reply)), result)
    finally result.close()
  }
}

private object WorkerConnection {
  // The kinds of requests, and the statuses of replies.
  val MakeProgram = 1
  val EvaluateRows = 2
  val Done = 0
  val Refused = 1
  val HeaderLength = 12
}

/** The bytes of a reply, gathered so that they go out by one call. */
private final class ReplyBuffer extends ByteArrayOutputStream(1 << 16) {
  private val header = ByteBuffer.allocate(8)

  def sendTo(worker: SocketChannel, status: Int): Unit = {
    header.clear()
    header.putInt(status).putInt(size).flip()
    val parts = Array(header, ByteBuffer.wrap(buf, 0, size))
    while (parts.last.hasRemaining) worker.write(parts)
  }
}
