package org.apache.spark.sql.streamapp

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.conf.Configuration

import org.apache.spark.SparkConf
import org.apache.spark.sql.catalyst.QueryPlanningTracker
import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.catalog.{InMemoryCatalog, SessionCatalog}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OneRowRelation, Project}
import org.apache.spark.sql.connector.catalog.DefaultCatalogManager
import org.apache.spark.sql.execution.datasources.v2.V2SessionCatalog
import org.apache.spark.sql.internal.SQLConf

/** Spark's parser and analyser as the driver asks them: texts in, JSON out, without a session.
  *
  * A refusal is an answer too, with Spark's words under `refused`.
  */
object ExpressionAnalyzer {
  private val json = new ObjectMapper

  /** The trees of the entries of a select list; `entries` is not there where the text is more than a list. */
  def parsed(settings: String, selectList: String): String = answered(settings) { answer =>
    CatalystSqlParser.parsePlan(s"SELECT $selectList") match {
      case Project(entries, OneRowRelation()) =>
        val trees = answer.putArray("entries")
        entries.foreach(entry => describe(entry, trees.addObject()))
      case _ =>
    }
  }

  /** The columns of a query, and what kind of plan makes them. */
  def analyzed(settings: String, query: String): String = answered(settings) { answer =>
    val plan = analyzer(SQLConf.get).executeAndCheck(CatalystSqlParser.parsePlan(query), new QueryPlanningTracker)
    answer.put("schema", plan.schema.json).put("deterministic", plan.deterministic)
    val nodes = answer.putArray("nodes")
    (plan +: plan.children.take(1)).foreach(node => nodes.add(node.nodeName))
  }

  /** An analyser of expressions, which knows Spark's own functions and no table. */
  private[streamapp] def analyzer(conf: SQLConf): Analyzer = {
    val tables = new InMemoryCatalog(new SparkConf(false), new Configuration(false))
    val catalog = new SessionCatalog(tables, FunctionRegistry.builtin, conf)
    new Analyzer(new DefaultCatalogManager(new V2SessionCatalog(catalog), catalog))
  }

  private[streamapp] def confOf(settings: Iterable[(String, String)]): SQLConf = {
    val conf = new SQLConf
    settings.foreach { case (key, value) => conf.setConfString(key, value) }
    conf
  }

  /** The settings of a JSON object. */
  private[streamapp] def settingsOf(text: String): Seq[(String, String)] =
    json.readTree(text).properties.asScala.map(each => each.getKey -> each.getValue.asText).toSeq

  private def answered(settings: String)(fill: ObjectNode => Unit): String = {
    val answer = json.createObjectNode
    try SQLConf.withExistingConf(confOf(settingsOf(settings))) { fill(answer) }
    catch {
      case error @ (NonFatal(_) | _: StackOverflowError) =>
        answer.put("refused", Option(error.getMessage).getOrElse(error.getClass.getName))
    }
    json.writeValueAsString(answer)
  }

  /** A node with what Python asks of it: its kind, its names, its place in the text, and what is below it. */
  private def describe(node: Expression, described: ObjectNode): Unit = {
    described.put("kind", node.nodeName)
    for (start <- node.origin.startIndex; stop <- node.origin.stopIndex)
      described.put("start", start).put("stop", stop)
    node match {
      case alias: Alias => put(described, Seq(alias.name))
      case alias: MultiAlias => put(described, alias.names)
      case star: UnresolvedStar => star.target.foreach(put(described, _))
      case function: UnresolvedFunction =>
        put(described, function.nameParts)
        described.put("distinct", function.isDistinct)
      case aggregate: AggregateExpression =>
        put(described, Seq(aggregate.aggregateFunction.prettyName))
        described.put("distinct", aggregate.isDistinct)
      case attribute: UnresolvedAttribute => put(described, attribute.nameParts)
      case variable: UnresolvedNamedLambdaVariable => put(described, variable.nameParts)
      case lambda: LambdaFunction =>
        put(described, lambda.arguments.collect { case variable: UnresolvedNamedLambdaVariable =>
          variable.nameParts.mkString
        })
      case _ =>
    }
    val children = described.putArray("children")
    node.children.foreach(child => describe(child, children.addObject()))
  }

  private def put(described: ObjectNode, names: Seq[String]): Unit = {
    val listed = described.putArray("names")
    names.foreach(name => listed.add(name))
  }
}
