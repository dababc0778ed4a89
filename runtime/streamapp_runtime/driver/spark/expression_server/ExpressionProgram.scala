package org.apache.spark.sql.streamapp

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.arrow.memory.BufferAllocator
import org.apache.arrow.vector.{BitVector, FieldVector, VarCharVector, VectorLoader, VectorSchemaRoot, VectorUnloader}
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch
import org.apache.arrow.vector.types.pojo.Schema

import org.apache.spark.sql.ExperimentalMethods
import org.apache.spark.sql.catalyst.{InternalRow, QueryPlanningTracker}
import org.apache.spark.sql.catalyst.analysis.Analyzer
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project, Statistics, SubqueryAlias}
import org.apache.spark.sql.execution.SparkOptimizer
import org.apache.spark.sql.execution.arrow.ArrowWriter
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.util.ArrowUtils
import org.apache.spark.sql.vectorized.{ArrowColumnVector, ColumnVector, ColumnarBatchRow}

/** The rows of a batch, of which the optimizer knows nothing but the columns. */
private final case class BatchRows(output: Seq[Attribute]) extends LeafNode {
  override def computeStats(): Statistics = Statistics(sizeInBytes = BigInt(1))
}

/** Expressions over the columns of batches: a condition that keeps rows, and values of the rows that it keeps.
  *
  * The result of a batch has a row for each row that came: whether it is kept, why it failed, the values. A
  * row that failed is not kept, and neither has values.
  */
private final class ExpressionProgram(
    input: StructType,
    where: Option[Seq[UnsafeProjection]],
    select: Seq[UnsafeProjection],
    selected: Seq[DataType],
    allocator: BufferAllocator)
    extends AutoCloseable {
  import ExpressionProgram._

  private val rows = VectorSchemaRoot.create(arrow(input), allocator)
  private val loader = new VectorLoader(rows)
  private val row = new ColumnarBatchRow(
    rows.getFieldVectors.asScala.map(vector => new ArrowColumnVector(vector): ColumnVector).toArray)

  private val values = VectorSchemaRoot.create(arrow(columns(selected)), allocator)
  private val writer = ArrowWriter.create(values)
  private val noValues = new GenericInternalRow(selected.length)
  private val kept = new BitVector("kept", allocator)
  private val failures = new VarCharVector("failure", allocator)
  private val result =
    new VectorSchemaRoot((Seq[FieldVector](kept, failures) ++ values.getFieldVectors.asScala).asJava)
  private val unloader = new VectorUnloader(result)

  def schema: Schema = result.getSchema

  def load(batch: ArrowRecordBatch): Unit = loader.load(batch)

  def evaluate(): ArrowRecordBatch = {
    val count = rows.getRowCount
    writer.reset()
    failures.reset()
    kept.reset()
    kept.allocateNew(count)
    failures.allocateNew(0, count)
    var number = 0
    while (number < count) {
      row.rowId = number
      val made =
        try valuesOf(row)
        catch {
          case error @ (NonFatal(_) | _: OutOfMemoryError | _: StackOverflowError) =>
            failures.setSafe(number, words(error).getBytes(UTF_8))
            null
        }
      kept.set(number, if (made == null) 0 else 1)
      writer.write(if (made == null) noValues else made)
      number += 1
    }
    writer.finish()
    kept.setValueCount(count)
    failures.setValueCount(count)
    result.setRowCount(count)
    unloader.getRecordBatch
  }

  override def close(): Unit = {
    rows.close()
    result.close()
  }

  /** The values of a row; null for one that the condition does not keep. */
  private def valuesOf(row: InternalRow): InternalRow = {
    val passes = where.forall(steps => applied(steps, row).getBoolean(0))
    if (passes) applied(select, row) else null
  }
}

private object ExpressionProgram {
  private val json = new ObjectMapper

  /** The program of a JSON text, whose expressions name the columns of the row. */
  def apply(text: String, conf: SQLConf, allocator: BufferAllocator): ExpressionProgram = {
    val described = json.readTree(text)
    val columns = described.get("columns").asText
    val input = if (columns.isEmpty) StructType(Nil) else StructType.fromDDL(columns)
    val where = Option(described.get("where")).filterNot(_.isNull).map(_.asText)
    val select = described.get("select").elements.asScala.map(_.asText).toSeq
    val analyzer = ExpressionAnalyzer.analyzer(conf)
    val rows = BatchRows(attributes(input))
    val condition = where.map(text => projections(rows, Seq(s"coalesce($text, false)"), analyzer, conf)._1)
    val (steps, types) = projections(rows, select, analyzer, conf)
    new ExpressionProgram(input, condition, steps, types, allocator)
  }

  private def attributes(input: StructType): Seq[Attribute] =
    input.map(field => AttributeReference(field.name, field.dataType, nullable = true)())

  /** The projections that one after the other make the values of a list, and the types of these. */
  private def projections(
      rows: BatchRows, texts: Seq[String], analyzer: Analyzer, conf: SQLConf)
      : (Seq[UnsafeProjection], Seq[DataType]) = {
    val list = texts.zipWithIndex.map { case (text, place) =>
      Alias(CatalystSqlParser.parseExpression(text), s"value $place")()
    }
    val plan = analyzer.executeAndCheck(Project(list, SubqueryAlias(RowAlias, rows)), new QueryPlanningTracker)
    val types = plan.output.map(_.dataType)
    val best =
      try optimized(plan, analyzer)
      catch {
        // A constant that fails does so where a row comes to it, not before any row is there.
        case NonFatal(_) => withoutFolding(conf) { optimized(plan, analyzer) }
      }
    (steps(best, rows), types)
  }

  private def optimized(plan: LogicalPlan, analyzer: Analyzer): LogicalPlan =
    new SparkOptimizer(
      analyzer.catalogManager, analyzer.catalogManager.v1SessionCatalog, new ExperimentalMethods).execute(plan)

  private def withoutFolding[A](conf: SQLConf)(body: => A): A = {
    val key = SQLConf.OPTIMIZER_EXCLUDED_RULES.key
    val before = conf.getConfString(key, "")
    conf.setConfString(key, s"$before,org.apache.spark.sql.catalyst.optimizer.ConstantFolding".stripPrefix(","))
    try body
    finally conf.setConfString(key, before)
  }

  /** The steps of a plan that is nothing but projections of the rows; another one is refused, not guessed. */
  private def steps(plan: LogicalPlan, rows: BatchRows): Seq[UnsafeProjection] = plan match {
    case Project(list, child) =>
      val before = steps(child, rows)
      val step = UnsafeProjection.create(list, child.output)
      step.initialize(0)
      before :+ step
    case leaf: BatchRows if leaf.output == rows.output => Nil
    case other => throw new UnsupportedOperationException(s"a plan with ${other.nodeName} is no row's alone")
  }

  private def applied(steps: Seq[UnsafeProjection], row: InternalRow): InternalRow = {
    var at = row
    val each = steps.iterator
    while (each.hasNext) at = each.next()(at)
    at
  }

  private def columns(types: Seq[DataType]): StructType =
    StructType(types.zipWithIndex.flatMap { case (kind, place) => StructType(Nil).add(s"value $place", kind) })

  private def arrow(columns: StructType): Schema =
    ArrowUtils.toArrowSchema(columns, "UTC", true, false, false)

  private def words(error: Throwable): String =
    Option(error.getMessage).getOrElse(error.getClass.getName)

  /** The name by which expressions ask for columns: no name or lambda variable of a user is like it. */
  private val RowAlias = "the row"
}
