import java.io.BufferedReader;
import java.io.FileReader;
import java.io.FileWriter;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.function.IntFunction;
import weka.classifiers.Classifier;
import weka.classifiers.bayes.BayesNet;
import weka.core.Attribute;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Utils;
import weka.experiment.CrossValidationResultProducer;
import weka.experiment.PairedStatsCorrected;
import weka.experiment.ResultListener;
import weka.experiment.ResultProducer;
import weka.experiment.SplitEvaluator;
import weka.filters.Filter;
import weka.filters.unsupervised.attribute.Discretize;

/**
 * Answers questions about what Weka does, one tab-separated command per line of standard input.
 *
 * <p>An answer is some lines followed by a line "end"; a command that fails answers with one line
 * "error: ..." instead, and the next command is read. Numbers are hexadecimal floating point, so no
 * digit is lost. The commands are listed in README.md.
 */
public final class Driver {
  private static final double WARM_UP_SECONDS = 1.0;

  private final PrintStream out;

  private Driver(PrintStream out) {
    this.out = out;
  }

  public static void main(String[] args) throws Exception {
    PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    // Some classes of Weka print remarks; they must not end up between the answers.
    System.setOut(System.err);
    Driver driver = new Driver(answers);
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      driver.answer(line);
    }
  }

  private void answer(String line) {
    StringBuilder text = new StringBuilder();
    try {
      run(line.split("\t", -1), text);
      out.print(text);
      out.print("end\n");
    } catch (Exception | LinkageError | OutOfMemoryError | StackOverflowError problem) {
      out.print("error: " + problem.toString().replaceAll("\\s+", " ") + "\n");
    }
    out.flush();
  }

  private static void run(String[] words, StringBuilder text) throws Exception {
    switch (words[0]) {
      case "distributions" -> distributions(need(words, 3), text);
      case "parents" -> parents(need(words, 2), text);
      case "time" -> time(need(words, 4), text);
      case "folds" -> folds(need(words, 3), text);
      case "filter" -> filter(need(words, 3));
      case "cells" -> cells(need(words, 2), text);
      case "cuts" -> cuts(need(words, 2), text);
      case "ttest" -> ttest(need(words, 3), text);
      case "random" -> random(need(words, 3), text);
      default -> throw new IllegalArgumentException("unknown command " + words[0]);
    }
  }

  private static String[] need(String[] words, int arguments) {
    if (words.length != arguments + 1) {
      throw new IllegalArgumentException(
          words[0] + " takes " + arguments + " arguments, got " + (words.length - 1));
    }
    return words;
  }

  private static void distributions(String[] words, StringBuilder text) throws Exception {
    Instances train = load(words[2]);
    Instances test = load(words[3]);
    if (!train.equalHeaders(test)) {
      throw new IllegalArgumentException("the training and the test file declare different attributes");
    }
    Classifier classifier = classifier(words[1]);
    classifier.buildClassifier(train);
    for (int i = 0; i < test.numInstances(); i++) {
      numbers(classifier.distributionForInstance(test.instance(i)), text);
    }
  }

  private static void parents(String[] words, StringBuilder text) throws Exception {
    if (!(classifier(words[1]) instanceof BayesNet net)) {
      throw new IllegalArgumentException("only a BayesNet has parents, got " + words[1]);
    }
    net.buildClassifier(load(words[2]));
    for (int node = 0; node < net.getNrOfNodes(); node++) {
      for (int k = 0; k < net.getNrOfParents(node); k++) {
        text.append(k == 0 ? "" : " ").append(net.getParent(node, k));
      }
      text.append('\n');
    }
  }

  private static void time(String[] words, StringBuilder text) throws Exception {
    Instances train = load(words[2]);
    Instances test = load(words[3]);
    int repeats = Integer.parseInt(words[4]);
    warmUp(words[1], train, test);
    double[] training = new double[repeats];
    double[] querying = new double[repeats];
    for (int repeat = 0; repeat < repeats; repeat++) {
      Classifier classifier = classifier(words[1]);
      long start = System.nanoTime();
      classifier.buildClassifier(train);
      training[repeat] = secondsSince(start);
      start = System.nanoTime();
      for (int i = 0; i < test.numInstances(); i++) {
        classifier.distributionForInstance(test.instance(i));
      }
      querying[repeat] = secondsSince(start) / test.numInstances();
    }
    numbers(training, text);
    numbers(querying, text);
  }

  /** Trains and queries until the compiler of the virtual machine has seen enough of both. */
  private static void warmUp(String spec, Instances train, Instances test) throws Exception {
    Classifier classifier;
    long start = System.nanoTime();
    do {
      classifier = classifier(spec);
      classifier.buildClassifier(train);
    } while (secondsSince(start) < WARM_UP_SECONDS);
    start = System.nanoTime();
    for (int i = 0; secondsSince(start) < WARM_UP_SECONDS; i++) {
      classifier.distributionForInstance(test.instance(i % test.numInstances()));
    }
  }

  private static double secondsSince(long start) {
    return (System.nanoTime() - start) / 1e9;
  }

  private static void folds(String[] words, StringBuilder text) throws Exception {
    Instances data = load(words[1]);
    data.insertAttributeAt(new Attribute("row number of the driver"), 0);
    for (int i = 0; i < data.numInstances(); i++) {
      data.instance(i).setValue(0, i);
    }
    CrossValidationResultProducer producer = new CrossValidationResultProducer();
    producer.setInstances(data);
    producer.setNumFolds(Integer.parseInt(words[3]));
    producer.setSplitEvaluator(new RowRecorder(text));
    producer.setResultListener(new Everything());
    producer.doRun(Integer.parseInt(words[2]));
  }

  private static void filter(String[] words) throws Exception {
    Instances data = load(words[2]);
    Instances filtered = Filter.useFilter(data, filterFor(words[1], data));
    try (Writer file = new FileWriter(words[3], StandardCharsets.UTF_8)) {
      file.write(filtered.toString());
    }
  }

  private static void cells(String[] words, StringBuilder text) throws Exception {
    Instances data = load(words[2]);
    Instances filtered = Filter.useFilter(data, filterFor(words[1], data));
    for (int j = 0; j < filtered.numAttributes(); j++) {
      text.append(j == 0 ? "" : " ").append(filtered.attribute(j).numValues());
    }
    text.append('\n');
    for (int i = 0; i < filtered.numInstances(); i++) {
      numbers(filtered.instance(i).toDoubleArray(), text);
    }
  }

  private static void cuts(String[] words, StringBuilder text) throws Exception {
    Instances data = load(words[2]);
    Filter filter = filterFor(words[1], data);
    IntFunction<double[]> cutPoints;
    // Two classes of this name, one that looks at the class and one that does not, share no type.
    if (filter instanceof Discretize blind) {
      cutPoints = blind::getCutPoints;
    } else if (filter instanceof weka.filters.supervised.attribute.Discretize supervised) {
      cutPoints = supervised::getCutPoints;
    } else {
      throw new IllegalArgumentException("only Discretize has cut points, got " + words[1]);
    }
    Filter.useFilter(data, filter);
    for (int j = 0; j < data.numAttributes(); j++) {
      double[] points = cutPoints.apply(j);
      numbers(points == null ? new double[0] : points, text);
    }
  }

  private static void ttest(String[] words, StringBuilder text) {
    PairedStatsCorrected stats = new PairedStatsCorrected(0.05, Double.parseDouble(words[3]));
    stats.add(parse(words[1]), parse(words[2]));
    stats.calculateDerived();
    numbers(
        new double[] {
          stats.differencesStats.mean, stats.differencesProbability, stats.differencesSignificance
        },
        text);
  }

  private static void random(String[] words, StringBuilder text) {
    Random random = new Random(Long.parseLong(words[1]));
    int count = Integer.parseInt(words[2]);
    for (int k = 0; k < count; k++) {
      switch (words[3]) {
        case "double" -> numbers(new double[] {random.nextDouble()}, text);
        case "int" -> text.append(random.nextInt()).append('\n');
        default -> text.append(random.nextInt(Integer.parseInt(words[3]))).append('\n');
      }
    }
  }

  /** Reads an ARFF file; the last attribute is the class. */
  private static Instances load(String path) throws Exception {
    try (Reader file = new BufferedReader(new FileReader(path, StandardCharsets.UTF_8))) {
      Instances data = new Instances(file);
      data.setClassIndex(data.numAttributes() - 1);
      return data;
    }
  }

  private static Classifier classifier(String spec) throws Exception {
    String[] options = Utils.splitOptions(spec);
    String name = options[0];
    options[0] = "";
    return Classifier.forName(name, options);
  }

  private static Filter filterFor(String spec, Instances data) throws Exception {
    String[] options = Utils.splitOptions(spec);
    String name = options[0];
    options[0] = "";
    Filter filter = (Filter) Utils.forName(Filter.class, name, options);
    filter.setInputFormat(data);
    return filter;
  }

  private static double[] parse(String values) {
    String[] words = values.trim().split(" +");
    double[] parsed = new double[words.length];
    for (int i = 0; i < words.length; i++) {
      parsed[i] = Double.parseDouble(words[i]);
    }
    return parsed;
  }

  private static void numbers(double[] values, StringBuilder text) {
    for (int i = 0; i < values.length; i++) {
      text.append(i == 0 ? "" : " ").append(Double.toHexString(values[i]));
    }
    text.append('\n');
  }

  /** Stands where the Experimenter has a classifier, and writes down the rows it is given. */
  private static final class RowRecorder implements SplitEvaluator {
    private static final long serialVersionUID = 1L;
    private final transient StringBuilder text;

    RowRecorder(StringBuilder text) {
      this.text = text;
    }

    @Override
    public Object[] getResult(Instances train, Instances test) {
      rows(train);
      rows(test);
      return new Object[0];
    }

    private void rows(Instances data) {
      for (int i = 0; i < data.numInstances(); i++) {
        Instance row = data.instance(i);
        text.append(i == 0 ? "" : " ").append((int) row.value(0));
      }
      text.append('\n');
    }

    @Override
    public void setAdditionalMeasures(String[] names) {}

    @Override
    public String[] getKeyNames() {
      return new String[0];
    }

    @Override
    public Object[] getKeyTypes() {
      return new Object[0];
    }

    @Override
    public String[] getResultNames() {
      return new String[0];
    }

    @Override
    public Object[] getResultTypes() {
      return new Object[0];
    }

    @Override
    public Object[] getKey() {
      return new Object[0];
    }

    @Override
    public String getRawResultOutput() {
      return "";
    }
  }

  /** Asks the Experimenter for every fold and keeps none of its results. */
  private static final class Everything implements ResultListener {
    private static final long serialVersionUID = 1L;

    @Override
    public String[] determineColumnConstraints(ResultProducer producer) {
      return null;
    }

    @Override
    public void preProcess(ResultProducer producer) {}

    @Override
    public void postProcess(ResultProducer producer) {}

    @Override
    public void acceptResult(ResultProducer producer, Object[] key, Object[] result) {}

    @Override
    public boolean isResultRequired(ResultProducer producer, Object[] key) {
      return true;
    }
  }
}
